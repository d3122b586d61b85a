// The view: camera, light, ground, bones, gizmo; draws on demand.

import {AmbientLight, BufferAttribute, BufferGeometry, CanvasTexture, Color, DirectionalLight, Group, HemisphereLight,
  LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, Object3D, PerspectiveCamera, PlaneGeometry, Points, PointsMaterial,
  Quaternion, Scene as ThreeScene, ShadowMaterial, Spherical, Vector2, Vector3, PCFShadowMap, WebGLRenderer} from 'three';
import {OrbitControls} from 'three/addons/controls/OrbitControls.js';
import {TransformControls} from 'three/addons/controls/TransformControls.js';
import type {Skin} from './skin.ts';

export interface Box {
  minimum: number[];
  maximum: number[];
}

export class Scene {
  readonly camera = new PerspectiveCamera(30, 1, 0.01, 100);
  readonly orbit: OrbitControls;
  readonly gizmo: TransformControls;
  readonly handle = new Object3D(); // what the gizmo turns and moves
  skins: Skin[] = [];
  split: number | null = null; // part of the width that shows the first skin, 0 to 1; null = all
  #side = false;
  #grabbed: {left: number; top: number; width: number; height: number} | null = null;
  onDraw = () => {};
  #renderer: WebGLRenderer;
  #scene = new ThreeScene();
  #rig = new Group(); // lights that follow the camera
  #sun = new DirectionalLight('#ffffff', 0.9);
  #ground: Mesh;
  #groundLook: Mesh<PlaneGeometry, MeshBasicMaterial>;
  #bones = new LineSegments(new BufferGeometry(), new LineBasicMaterial({color: '#2e6f95', depthTest: false, transparent: true, opacity: 0.75}));
  #points = new Points(new BufferGeometry(), new PointsMaterial({
    color: '#2e6f95', size: 5, sizeAttenuation: false, depthTest: false, transparent: true}));
  #chosen = new Points(new BufferGeometry(), new PointsMaterial({
    color: '#e0591b', size: 11, sizeAttenuation: false, depthTest: false, transparent: true}));
  #up: Vector3;
  #drawn = true;
  #framed = false;

  constructor(readonly canvas: HTMLCanvasElement, zUp: boolean) {
    this.#renderer = new WebGLRenderer({canvas, antialias: true});
    this.#renderer.shadowMap.enabled = true;
    this.#renderer.shadowMap.type = PCFShadowMap;
    this.#up = zUp ? new Vector3(0, 0, 1) : new Vector3(0, 1, 0);
    this.camera.up.copy(this.#up);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.addEventListener('change', () => this.draw());
    this.gizmo = new TransformControls(this.camera, canvas);
    this.gizmo.setSize(0.8);
    // The gizmo takes the whole canvas for one picture. A drag stays in the panel that it began in.
    (this.gizmo as unknown as {_getPointer: (event: PointerEvent) => object})._getPointer = ({clientX, clientY, button}) => {
      if (!this.gizmo.dragging || !this.#grabbed) this.#grabbed = this.panel(clientX);
      const {x, y} = within(this.#grabbed, clientX, clientY);
      return {x, y, button};
    };
    this.gizmo.addEventListener('change', () => this.draw());
    this.gizmo.addEventListener('dragging-changed', ({value}) => (this.orbit.enabled = !value));

    const key = new DirectionalLight('#fff4e6', 2.1);
    key.position.set(-1.2, 1.4, 1.6);
    const fill = new DirectionalLight('#dfeaff', 0.8);
    fill.position.set(1.8, 0.3, 1.2);
    const rim = new DirectionalLight('#ffffff', 1.6);
    rim.position.set(0.6, 1.2, -2);
    this.#rig.add(key, key.target, fill, fill.target, rim, rim.target);
    this.camera.add(this.#rig);
    const sky = new HemisphereLight('#ffffff', '#8d8377', 0.55);
    sky.position.copy(this.#up);
    this.#sun.castShadow = true;
    this.#sun.shadow.mapSize.set(1024, 1024);
    this.#sun.shadow.radius = 3;

    const face = new PlaneGeometry(1, 1);
    if (!zUp) face.rotateX(-Math.PI / 2);
    this.#groundLook = new Mesh(face, new MeshBasicMaterial({map: discTexture(), transparent: true, depthWrite: false}));
    this.#ground = new Mesh(face, new ShadowMaterial({opacity: 0.28}));
    this.#ground.receiveShadow = true;
    this.#groundLook.renderOrder = -2;
    this.#ground.renderOrder = -1;
    for (const [k, mark] of [this.#bones, this.#points, this.#chosen].entries()) {
      mark.renderOrder = 5 + k;
      mark.frustumCulled = false;
      mark.visible = false;
    }
    this.#scene.add(this.camera, sky, new AmbientLight('#ffffff', 0.25), this.#sun, this.#sun.target, this.#groundLook, this.#ground,
      this.#bones, this.#points, this.#chosen, this.handle, this.gizmo.getHelper());
    canvas.addEventListener('webglcontextrestored', () => this.draw());
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement!);
    this.#resize();
  }

  add(...skins: Skin[]): void {
    this.skins = skins;
    this.#scene.add(...skins.map((skin) => skin.object));
  }

  // Draws soon. Nothing is drawn while nothing changes.
  draw(): void {
    if (!this.#drawn) return;
    this.#drawn = false;
    requestAnimationFrame(() => this.drawNow());
  }

  drawNow(): void {
    this.#drawn = true;
    const {clientWidth: width, clientHeight: height} = this.canvas;
    const shown = this.skins.map((skin) => skin.object.visible);
    const one = (skin: number | null, x: number, w: number, left = 0, across = width) => {
      if (w < 1) return;
      this.#renderer.setViewport(left, 0, across, height);
      this.skins.forEach((other, k) => (other.object.visible = shown[k] && (skin === null || k === skin)));
      this.#renderer.setScissor(x, 0, w, height);
      this.#renderer.render(this.#scene, this.camera);
    };
    this.#renderer.setScissorTest(true);
    if (this.#side) {
      const half = Math.floor(width / 2);
      for (const skin of [0, 1]) one(skin, skin * half, half, skin * half, half);
    } else if (this.split === null) one(0, 0, width);
    else {
      const at = Math.round(this.split * width);
      one(0, 0, at);
      one(1, at, width - at);
    }
    this.skins.forEach((skin, k) => (skin.object.visible = shown[k]));
    this.onDraw();
  }

  // A picture of what is shown, without the marks of the chosen joint.
  async png(): Promise<Blob> {
    const marks = [this.gizmo.getHelper(), this.#chosen];
    const visible = marks.map((mark) => mark.visible);
    marks.forEach((mark) => (mark.visible = false));
    this.drawNow();
    const picture = new Promise<Blob | null>((resolve) => this.canvas.toBlob(resolve, 'image/png'));
    marks.forEach((mark, k) => (mark.visible = visible[k]));
    this.draw();
    const blob = await picture;
    if (!blob) throw new Error('The browser made no picture.');
    return blob;
  }

  set background(colour: string) {
    const background = new Color(colour);
    this.#scene.background = background;
    this.#groundLook.material.opacity = background.getHSL({h: 0, s: 0, l: 0}).l < 0.5 ? 0.4 : 1;
    this.draw();
  }

  // Puts the ground under a box, and the light and the limits of the camera around it.
  place({minimum, maximum}: Box): void {
    const low = new Vector3(...minimum);
    const high = new Vector3(...maximum);
    const size = Math.max(low.distanceTo(high), 1e-6);
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const ground = middle.clone().addScaledVector(this.#up, low.dot(this.#up) - middle.dot(this.#up));
    for (const plane of [this.#ground, this.#groundLook]) {
      plane.position.copy(ground);
      plane.scale.setScalar(size * 5);
    }
    this.#sun.target.position.copy(middle);
    this.#sun.position.copy(middle).addScaledVector(this.#up, size * 2).add(new Vector3(-size * 0.5, 0, size * 0.4));
    const shadow = this.#sun.shadow.camera;
    shadow.left = shadow.bottom = -size;
    shadow.right = shadow.top = size;
    shadow.near = size * 0.1;
    shadow.far = size * 5;
    shadow.updateProjectionMatrix();
    this.camera.near = size / 200;
    this.camera.far = size * 60;
    this.orbit.minDistance = size / 50;
    this.orbit.maxDistance = size * 12;
    this.camera.updateProjectionMatrix();
  }

  // Looks at all of a box, from the side it is seen from now.
  // covered: the part of the view's height that is hidden at its top.
  frame({minimum, maximum}: Box, covered: number): void {
    const low = new Vector3(...minimum);
    const high = new Vector3(...maximum);
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const ahead = this.#framed ? this.camera.position.clone().sub(this.orbit.target).normalize() :
      new Vector3().setFromSpherical(new Spherical(1, 1.35, 0.5)).applyQuaternion(this.#fromY());
    this.#framed = true;
    const half = Math.tan(this.camera.fov * Math.PI / 360);
    this.camera.position.copy(middle).add(ahead);
    this.camera.lookAt(middle);
    const [right, above, back] = [new Vector3(), new Vector3(), new Vector3()];
    this.camera.updateMatrixWorld();
    this.camera.matrixWorld.extractBasis(right, above, back);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const point = new Vector3(corner & 1 ? low.x : high.x, corner & 2 ? low.y : high.y, corner & 4 ? low.z : high.z).sub(middle);
      distance = Math.max(distance, Math.abs(point.dot(above)) * 1.12 / (half * (1 - 2 * covered)) + point.dot(back),
        Math.abs(point.dot(right)) * 1.12 / (half * this.camera.aspect) + point.dot(back));
    }
    this.orbit.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(ahead, distance);
    this.orbit.update();
    this.draw();
  }

  get view(): number[] {
    return [...this.camera.position.toArray(), ...this.orbit.target.toArray()];
  }

  set view(numbers: number[]) {
    this.#framed = true;
    this.camera.position.fromArray(numbers);
    this.orbit.target.fromArray(numbers, 3);
    this.orbit.update();
    this.draw();
  }

  // Turns around the target by radians, and comes nearer by a factor.
  turn(across: number, up: number, factor = 1): void {
    const toY = this.#fromY().invert();
    const place = new Spherical().setFromVector3(this.camera.position.clone().sub(this.orbit.target).applyQuaternion(toY));
    place.theta += across;
    place.phi += up;
    place.radius *= factor;
    place.makeSafe();
    this.camera.position.setFromSpherical(place).applyQuaternion(toY.invert()).add(this.orbit.target);
    this.orbit.update();
    this.draw();
  }

  // Two panels with one camera, one for each skin, or one panel.
  set side(side: boolean) {
    if (this.#side === side) return;
    this.#side = side;
    this.#resize();
  }

  // The panel under a point of the page, and the skin that is seen there.
  panel(x: number): {skin: number; left: number; top: number; width: number; height: number} {
    const {left, top, width, height} = this.canvas.getBoundingClientRect();
    if (!this.#side) return {skin: this.split !== null && x >= left + this.split * width ? 1 : 0, left, top, width, height};
    const half = width / 2;
    const skin = x >= left + half ? 1 : 0;
    return {skin, left: left + skin * half, top, width: half, height};
  }

  // The ray under a point of the page, in model space.
  ray(x: number, y: number): {origin: number[]; direction: number[]} {
    const place = within(this.panel(x), x, y);
    const at = new Vector3(place.x, place.y, 0.5).unproject(this.camera);
    return {origin: this.camera.position.toArray(), direction: at.sub(this.camera.position).normalize().toArray()};
  }

  // The joint whose origin is drawn nearest to a point of the page, within 9 pixels; -1 = none.
  jointAt(x: number, y: number): number {
    const box = this.panel(x);
    const origins = this.#points.geometry.getAttribute('position');
    if (!this.#points.visible || !origins) return -1;
    let best = -1;
    let nearest = 9;
    for (let j = 0; j < origins.count; j++) {
      const at = new Vector3().fromBufferAttribute(origins, j).project(this.camera);
      const away = new Vector2(box.left + (at.x + 1) / 2 * box.width - x, box.top + (1 - at.y) / 2 * box.height - y).length();
      if (Math.abs(at.z) < 1 && away < nearest) [best, nearest] = [j, away];
    }
    return best;
  }

  // Draws bones from each joint of the pose to its parent.
  pose(model: Float32Array, parents: number[], chosen: number): void {
    const origins = new Float32Array(parents.length * 3);
    const lines: number[] = [];
    parents.forEach((parent, j) => {
      for (let row = 0; row < 3; row++) origins[j * 3 + row] = model[j * 12 + row * 4 + 3];
      if (parent >= 0) lines.push(...origins.subarray(parent * 3, parent * 3 + 3), ...origins.subarray(j * 3, j * 3 + 3));
    });
    setPoints(this.#bones.geometry, Float32Array.from(lines));
    setPoints(this.#points.geometry, origins);
    this.#chosen.visible = chosen >= 0;
    if (chosen >= 0) setPoints(this.#chosen.geometry, origins.slice(chosen * 3, chosen * 3 + 3));
    this.draw();
  }

  set bones(visible: boolean) {
    this.#bones.visible = this.#points.visible = visible;
    this.draw();
  }

  // Puts the gizmo at a place; null takes it away.
  attach(at: Matrix4 | null): void {
    if (at) {
      at.decompose(this.handle.position, this.handle.quaternion, new Vector3());
      this.gizmo.attach(this.handle);
    } else this.gizmo.detach();
    this.draw();
  }

  #fromY(): Quaternion {
    return new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), this.#up);
  }

  #resize(): void {
    const {clientWidth: width, clientHeight: height} = this.canvas.parentElement!;
    if (!width || !height) return;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.#renderer.setSize(width, height, false);
    this.camera.aspect = (this.#side ? Math.floor(width / 2) : width) / height;
    this.camera.updateProjectionMatrix();
    this.drawNow();
  }
}

// A point of the page in a panel: -1 to 1, y upwards.
function within(panel: {left: number; top: number; width: number; height: number}, x: number, y: number): {x: number; y: number} {
  return {x: (x - panel.left) / panel.width * 2 - 1, y: 1 - (y - panel.top) / panel.height * 2};
}

function setPoints(geometry: BufferGeometry, points: Float32Array): void {
  const now = geometry.getAttribute('position') as BufferAttribute | undefined;
  if (now?.array.length !== points.length) geometry.setAttribute('position', new BufferAttribute(points, 3));
  else {
    now.array.set(points);
    now.needsUpdate = true;
  }
}

// A disc with a grid that fades out, for light and dark backgrounds.
function discTexture(): CanvasTexture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 1024;
  const context = canvas.getContext('2d')!;
  context.strokeStyle = '#80808066';
  context.lineWidth = 2;
  for (let k = 0; k <= 24; k++) {
    context.beginPath();
    context.moveTo(k / 24 * 1024, 0);
    context.lineTo(k / 24 * 1024, 1024);
    context.moveTo(0, k / 24 * 1024);
    context.lineTo(1024, k / 24 * 1024);
    context.stroke();
  }
  const fade = context.createRadialGradient(512, 512, 60, 512, 512, 500);
  fade.addColorStop(0, '#000');
  fade.addColorStop(1, '#0000');
  context.globalCompositeOperation = 'destination-in';
  context.fillStyle = fade;
  context.fillRect(0, 0, 1024, 1024);
  const texture = new CanvasTexture(canvas);
  texture.anisotropy = 8;
  return texture;
}
