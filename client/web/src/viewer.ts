// The live character: recipes, pose and view, and what keeps them together.

import {BufferAttribute, Matrix4, Quaternion, Vector3} from 'three';
import {ListMethodsResponseSchema, type ListMethodsResponse} from '@proto/info_service_pb';
import {create} from '@bufbuild/protobuf';
import {InfoService} from '@proto/info_service_pb';
import {decodePositions, distances, pickVertex, roundUp} from './decode.ts';
import type {LinkState} from './link.ts';
import {Edits, matrix4, poseJson, toModel, type Edit} from './pose.ts';
import {loadPaint} from './paint.ts';
import {Player, type ClipInfo} from './player.ts';
import {faceEdges, influencesOf, weightBytes, type CharacterRig} from './rig.ts';
import {Scene} from './scene.ts';
import type {Server} from './server.ts';
import {rampTexture, Skin} from './skin.ts';
import {Slot} from './slot.ts';
import {Streams} from './stream.ts';
import {find} from './ui/dom.ts';
import type {GizmoMode, GizmoSpace} from './ui/pose_panel.ts';
import type {CallError} from './wire.ts';

export interface ViewInfo {
  version: string;
  label: string;
  rig: string;
  recipes: string[];
  clip: number; // to begin with
  clips: ClipInfo[];
  ofServer?: boolean; // a rig of a server, which the page was told no more about
  paint: {path: string; images: string[]} | null; // colours of the file
  warnings?: string[]; // about the file
}

export async function listMethods(server: Server): Promise<ListMethodsResponse> {
  const all = create(ListMethodsResponseSchema);
  let pageToken = '';
  do {
    const page = await server.unary(InfoService.method.listMethods, {pageToken});
    all.methods.push(...page.methods);
    all.presets.push(...page.presets);
    pageToken = page.nextPageToken;
  } while (pageToken);
  return all;
}

export interface ViewerEvents {
  slots(): void; // the state of a recipe or of the connection
  pose(): void; // frame, joint, edits
  look(): void; // camera, overlay, everything else that a link holds
}

export class Viewer {
  readonly slots: Slot[];
  readonly edits = new Edits();
  readonly player: Player;
  readonly scene: Scene;
  readonly streams: Streams;
  view: LinkState['view'] = 'one';
  joint = -1;
  vertex = -1;
  weights = false;
  flat = false;
  edges = false;
  bones = false;
  normals = false;
  muscles = false;
  status = false;
  colours = false;
  mode: GizmoMode = 'turn';
  space: GizmoSpace = 'local';
  connection: CallError | null = null;
  problem = ''; // of the pose shown
  shown = 0; // frames so far
  follows = ''; // the stream that is shown; '' = the page poses its character itself
  distance: {largest: number; rms: number; scale: number} | null = null;
  model: Float32Array; // the pose shown
  controls: Float32Array;
  #rest: Float32Array;
  #skins: Skin[];
  second = ''; // the recipe to compare with, while one is shown
  #number = 0n;
  #wanted = false; // the pose has changed since it was sent
  #placed = false; // the ground
  #framed = false; // the camera, for the first shape
  #dragged: {edit: Edit | undefined; parent: Matrix4 | null; turn: Quaternion; at: Vector3} | null = null;
  #camera: number[] = [];
  #measured = 0;
  #paint: 'absent' | 'coming' | 'there' = 'absent';

  constructor(readonly server: Server, readonly info: ViewInfo, readonly rig: CharacterRig, canvas: HTMLCanvasElement,
    private readonly events: ViewerEvents) {
    this.model = this.#rest = toModel(rig.joints, rig.restLocal);
    this.controls = new Float32Array(rig.controls.length);
    this.scene = new Scene(canvas, rig.zUp);
    const index = new BufferAttribute(rig.triangles, 1);
    const ramp = rampTexture();
    this.#skins = [0, 1].map(() => new Skin(rig.vertices, index, ramp));
    this.#skins[0].compare(this.#skins[1]);
    this.scene.add(...this.#skins);
    this.streams = new Streams(server, (error) => {
      this.connection = error;
      events.slots();
    });
    this.slots = [0, 1].map(() => new Slot(this.streams, info.rig, rig.vertices, rig.triangles, {
      state: () => this.#slotChanged(),
      live: () => {
        this.#wanted = true;
        this.#send();
      },
      shape: () => this.#shapeCame(),
      problem: (message) => {
        this.problem = message;
        this.events.slots();
        this.#send();
      },
    }));
    this.player = new Player(server, info.clips, rig.joints.length, rig.controls.length, () => this.posed());
    this.scene.gizmo.addEventListener('mouseDown', () => this.#dragStart());
    this.scene.gizmo.addEventListener('objectChange', () => this.#drag());
    this.scene.gizmo.addEventListener('mouseUp', () => {
      this.#dragged = null;
      this.posed();
    });
    this.scene.orbit.addEventListener('change', () => events.look());
  }

  // Recipe `k` from now on; without a text the one before stays.
  recipe(k: number, text: string): void {
    if (!text.trim()) return;
    this.distance = null;
    this.slots[k].start(text);
    this.events.look();
  }

  // Shows the stream of this name instead of poses of the page's own.
  follow(name: string): void {
    this.follows = name;
    void this.slots[0].follow(name, ({source}) => {
      if (source?.rig !== this.info.rig) location.reload(); // another character
    });
  }

  // Others may follow the first recipe under this name; '' = no longer.
  share(name: string): void {
    this.slots[0].share(name);
  }

  setView(view: LinkState['view']): void {
    if (this.follows) return;
    this.view = view;
    if (view !== 'one') {
      if (!this.slots[1].recipe) this.recipe(1, this.second || (this.info.recipes[1] ?? (this.slots[0].recipe === 'lbs' ? 'dqs' : 'lbs')));
    } else if (this.slots[1].recipe) {
      this.second = this.slots[1].recipe;
      this.slots[1].stop();
    }
    this.scene.side = view === 'side';
    this.distance = null;
    this.#measureDistance();
    this.overlay();
    this.events.slots();
    this.events.look();
  }

  set wipe(part: number) {
    this.scene.split = this.view === 'wipe' ? part : null;
    this.scene.draw();
  }

  // Joints and controls of a frame of the clip, or of the rest pose, with the edits.
  poseAt(frame: number): {model: Float32Array; controls: Float32Array} {
    const pose = this.player.poseAt(frame);
    return {
      model: this.edits.apply(this.rig.joints, pose?.transforms ?? this.#rest),
      controls: Float32Array.from(this.rig.controls, ({defaultValue}, c) => this.edits.controls.get(c) ?? pose?.controls[c] ?? defaultValue ?? 0),
    };
  }

  // The pose has changed: by the clip or by an edit.
  posed(): void {
    ({model: this.model, controls: this.controls} = this.poseAt(this.player.frame));
    this.#wanted = true;
    this.#send();
    this.scene.pose(this.model, this.rig.joints.map(({parent}) => parent), this.joint);
    this.#attach();
    this.events.pose();
  }

  choose(joint: number): void {
    if (this.follows) return;
    this.joint = joint;
    if (joint >= 0) this.#skins.forEach((skin) => (skin.weights = weightBytes(this.rig.influences, joint)));
    this.overlay();
    this.posed();
  }

  // Chooses the joint under a point of the page, or the strongest one of the vertex there.
  pick(x: number, y: number): void {
    const joint = this.scene.jointAt(x, y);
    const shape = this.slots[this.scene.panel(x).skin].shape;
    if (joint >= 0) return this.choose(joint);
    if (!shape) return;
    const {origin, direction} = this.scene.ray(x, y);
    this.vertex = pickVertex(decodePositions(shape), this.rig.triangles, origin, direction) ?? -1;
    this.choose(this.vertex < 0 ? -1 : influencesOf(this.rig.influences, this.vertex)[0]?.joint ?? -1);
  }

  // Brings what is switched on, and the view, to the screen.
  overlay(): void {
    this.#skins.forEach((skin) => {
      skin.flat = this.flat;
      skin.showEdges(this.edges, () => this.#edgePairs());
      skin.normals = this.normals;
    });
    for (const slot of this.slots) slot.ask({status: this.status, muscles: this.muscles && this.rig.muscles > 0});
    void this.#loadPaint();
    this.#showSkins();
    this.scene.bones = this.bones && !this.follows; // their pose is not known here
    this.scene.gizmo.setMode(this.mode === 'turn' ? 'rotate' : 'translate');
    this.#attach();
    this.events.look();
  }

  // Once, when it is first asked for.
  async #loadPaint(): Promise<void> {
    if (!this.colours || !this.info.paint || this.#paint !== 'absent') return;
    this.#paint = 'coming';
    try {
      const paint = await loadPaint(this.server, this.info.paint);
      for (const skin of this.#skins) skin.paint = paint;
      this.#paint = 'there';
      this.#showSkins();
    } catch (error) {
      this.#paint = 'absent'; // the skin stays as clay, and the next look tries again
      this.problem = `No colours: ${(error as Error).message}`;
      this.events.slots();
    }
  }

  frame(): void {
    const shapes = this.slots.flatMap(({shape}) => shape ?? []);
    if (!shapes.length) return;
    const least = (lists: number[][]) => lists.reduce((a, b) => a.map((x, k) => Math.min(x, b[k])));
    const most = (lists: number[][]) => lists.reduce((a, b) => a.map((x, k) => Math.max(x, b[k])));
    const [tools, view] = [find('view-tools'), this.scene.canvas].map((element) => element.getBoundingClientRect());
    const covered = Math.min(0.15, (tools.bottom - view.top) / view.height); // small windows have more tools than view
    this.scene.frame({minimum: least(shapes.map((s) => s.minimum)), maximum: most(shapes.map((s) => s.maximum))}, covered);
  }

  // The camera that a link asks for; [] = framed.
  set camera(numbers: number[]) {
    this.#camera = numbers;
  }

  poseJson(): string {
    return poseJson(this.rig, this.model, this.controls);
  }

  #pairs: BufferAttribute | null = null;
  #edgePairs(): BufferAttribute {
    return this.#pairs ??= new BufferAttribute(faceEdges(this.rig), 1);
  }

  #slotChanged(): void {
    this.events.slots();
    this.#send(); // the other recipe need not wait for one that has ended
    this.#showSkins();
  }

  // While two recipes are compared, both get the same poses: the next one when both have answered.
  #send(): void {
    const live = this.slots.filter((slot) => slot.live);
    if (!this.#wanted || !live.length) return;
    if ((this.view !== 'one' || !this.#placed) && live.some((slot) => slot.answered < slot.sent)) return;
    this.#wanted = false;
    this.#number++;
    const bytes = (values: Float32Array) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    for (const slot of live) slot.send(this.#number, bytes(this.#placed ? this.model : this.#rest), bytes(this.controls));
  }

  #shapeCame(): void {
    const [first, second] = this.slots;
    const waits = this.view !== 'one' && this.slots.some((slot) => slot.live && slot.answered < slot.sent);
    if (waits) return;
    this.problem = '';
    if (!this.#placed) { // the rest pose came, so that the ground is the same in all frames
      this.#placed = this.#wanted = true;
      this.scene.place((first.shape ?? second.shape)!);
      if (!this.follows) return this.#send();
    }
    this.slots.forEach(({shape}, k) => shape && this.#skins[k].show(shape));
    this.shown++;
    if (!this.#framed) {
      this.#framed = true;
      if (this.#camera.length) this.scene.view = this.#camera;
      else this.frame();
    }
    if (!this.player.playing || performance.now() - this.#measured > 250) this.#measureDistance();
    this.#showSkins();
    this.#send();
  }

  #measureDistance(): void {
    if (this.view !== 'heat' || !this.#samePose()) return;
    this.#measured = performance.now();
    const [first, second] = this.slots.map(({shape}) => decodePositions(shape!));
    const found = distances(first, second);
    const scale = Math.max(this.distance?.scale ?? 0, roundUp(found.largest));
    this.distance = {...found, scale};
    this.#skins[0].uniforms.scale.value = scale || 1;
    this.events.slots();
  }

  #showSkins(): void {
    const [first, second] = this.slots;
    this.#skins[0].object.visible = this.#framed && first.shape !== null;
    this.#skins[1].object.visible = this.#framed && second.shape !== null && (this.view === 'wipe' || this.view === 'side');
    const weights = this.weights && this.joint >= 0;
    this.#skins.forEach((skin, k) =>
      (skin.overlay = this.status && this.slots[k].shape?.status ? 'status' : weights ? 'weight' : this.view === 'heat' && k === 0 && this.#samePose() ? 'distance' : this.colours && this.#paint === 'there' ? 'paint' : 'none'));
    this.scene.draw();
  }

  // A distance has a meaning only between answers to one pose.
  #samePose(): boolean {
    const [first, second] = this.slots;
    return first.shape !== null && second.shape !== null && first.shape.frame === second.shape.frame;
  }

  // The gizmo stands at the joint, along the axes of the chosen space.
  #attach(): void {
    if (this.#dragged) return;
    if (this.joint < 0) return this.scene.attach(null);
    const at = matrix4(this.model, this.joint);
    const parent = this.rig.joints[this.joint].parent;
    const axes = this.space === 'local' ? at : this.space === 'parent' && parent >= 0 ? matrix4(this.model, parent) : new Matrix4();
    this.scene.gizmo.setSpace(this.space === 'world' ? 'world' : 'local');
    this.scene.attach(axes.clone().setPosition(new Vector3().setFromMatrixPosition(at)));
  }

  #dragStart(): void {
    const parent = this.rig.joints[this.joint].parent;
    this.edits.step();
    this.#dragged = {
      edit: this.edits.joints.get(this.joint),
      parent: parent < 0 ? null : matrix4(this.model, parent),
      turn: this.scene.handle.quaternion.clone(),
      at: this.scene.handle.position.clone(),
    };
  }

  #drag(): void {
    if (!this.#dragged) return;
    const {edit, parent, turn, at} = this.#dragged;
    const {quaternion, position} = this.scene.handle;
    this.edits.joints.set(this.joint, Edits.changed(edit, parent, quaternion.clone().multiply(turn.clone().invert()), position.clone().sub(at)));
    this.posed();
  }
}
