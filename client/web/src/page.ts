// The page once it has a character: panels, keys, link, what it says.

import {FLAGS, writeLink, type Flag, type LinkState} from './link.ts';
import {subjectOf} from './metrics.ts';
import {npy} from './npy.ts';
import {Server} from './server.ts';
import {Sharing} from './sharing.ts';
import {troubleText} from './trouble.ts';
import {NOT_FOUND} from './wire.ts';
import {button, choice, find, make, plainNumber, press, save, say, toggle} from './ui/dom.ts';
import {Divider} from './ui/divider.ts';
import {Keys} from './ui/keys.ts';
import {MetricsPanel} from './ui/metrics_panel.ts';
import {annotated} from './ui/picture.ts';
import {PosePanel, type GizmoMode, type GizmoSpace} from './ui/pose_panel.ts';
import {Rates} from './ui/rates.ts';
import {RecipePanel} from './ui/recipe_panel.ts';
import {showStatusLegend} from './ui/status_legend.ts';
import {Transport} from './ui/transport.ts';
import {listMethods, Viewer, type ViewInfo} from './viewer.ts';

export function setTheme(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
}

const isDark = () => getComputedStyle(document.documentElement).colorScheme.includes('dark');

export class Page {
  readonly viewer: Viewer;
  readonly divider = new Divider(() => this.#showLook());
  readonly sharing: Sharing;
  #recipes: RecipePanel[];
  #pose: PosePanel;
  #metrics: MetricsPanel;
  #transport: Transport;
  #views;
  #flags: Record<Flag, HTMLButtonElement>;
  #linkTimer = 0;
  #told = '';
  #toldTimer = 0;

  constructor(server: Server, info: ViewInfo, rig: Viewer['rig'], methods: Awaited<ReturnType<typeof listMethods>>, state: LinkState) {
    document.title = `${info.label} – Sinew`;
    say(find('label'), state.follow ? `Follows ${info.label}` : info.label);
    this.viewer = new Viewer(server, info, rig, find<HTMLCanvasElement>('canvas'), {
      slots: () => this.#showSlots(),
      pose: () => this.#showPose(),
      look: () => this.#showLook(),
    });
    const viewer = this.viewer;
    this.#recipes = ['A', 'B'].map((name, k) => new RecipePanel(name, methods, rig.maps, (text) => viewer.recipe(k, text)));
    this.#metrics = new MetricsPanel(server, {
      subject: () => subjectOf(viewer),
      frame: () => viewer.player.frame,
      seek: (frame) => {
        viewer.player.play(false);
        viewer.player.seek(frame);
      },
      length: (value) => this.#length(value),
    });
    const warnings = info.warnings ?? [];
    if (warnings.length) find('methods').append(make('details', {className: 'about-file'},
      make('summary', {}, warnings.length > 1 ? 'Warnings about the file' : 'A warning about the file'),
      make('ul', {className: 'warnings'}, ...warnings.map((line) => make('li', {}, line)))));
    find('methods').append(...this.#recipes.map(({element}) => element), this.#metrics.element);
    this.#pose = new PosePanel(rig, viewer.edits, {
      choose: (joint) => this.#choose(joint),
      edited: () => viewer.posed(),
      mode: (mode) => this.#gizmo(mode, viewer.space),
      space: (space) => this.#gizmo(viewer.mode, space),
      weights: (on) => this.#set('weights', on),
      undo: () => viewer.edits.undo() && viewer.posed(),
      redo: () => viewer.edits.redo() && viewer.posed(),
      copy: () => void this.#copy(viewer.poseJson(), 'The pose is in the clipboard.'),
      save: () => this.#savePose(),
    });
    find('pose').append(this.#pose.element);
    this.#transport = new Transport(viewer.player, (error) => this.tell((error as Error).message));
    this.sharing = new Sharing(viewer, (text, done) => this.#copy(text, done));
    this.#views = choice<LinkState['view']>('View', [['one', 'One', 'One recipe (1)'], ['wipe', 'Wipe', 'Two recipes with a border to move (2)'],
      ['heat', 'Heat map', 'Distance between two recipes (3)'], ['side', 'Side by side', 'Two recipes in two panels (4)']], (view) => viewer.setView(view));
    this.#flags = {
      flat: toggle('Flat', 'Flat or smooth shading (S)', (on) => this.#set('flat', on)),
      edges: toggle('Edges', 'Edges of the faces (W)', (on) => this.#set('edges', on)),
      bones: toggle('Bones', 'Bones (B)', (on) => this.#set('bones', on)),
      normals: toggle('Normals', 'Normals of the vertices as lines (N)', (on) => this.#set('normals', on)),
      muscles: toggle('Muscles', 'Muscles of the rig under a translucent skin (M)', (on) => this.#set('muscles', on)),
      colours: toggle('Colours', 'Base colours and images of the file (C)', (on) => this.#set('colours', on)),
      status: toggle('Status', 'Where implicit skinning has moved the vertices (I)', (on) => this.#set('status', on)),
    };
    this.#flags.muscles.hidden = !rig.muscles;
    this.#flags.colours.hidden = !info.paint;
    find('view-tools').append(this.#views.element,
      Object.assign(make('div', {className: 'group', 'aria-label': 'Look'}, ...Object.values(this.#flags)), {role: 'group'}),
      button('Frame', 'Show all of the character (F)', () => viewer.frame()));
    if (info.ofServer && !state.follow) find('page-tools').append(button('Rigs', 'Another rig of this server', () => {
      history.replaceState(null, '', location.pathname);
      location.reload();
    }));
    const keys = new Keys(viewer, {
      set: (flag, on) => this.#set(flag, on),
      choose: (joint) => this.#choose(joint),
      gizmo: (mode, space) => this.#gizmo(mode, space),
      resetJoint: () => this.#pose.resetJoint(),
      loop: () => {
        viewer.player.loop = !viewer.player.loop;
        this.#transport.update();
      },
      border: (by) => this.divider.step(by),
      picture: () => void this.#picture(),
      theme: () => this.#theme(),
    });
    find('page-tools').append(button('Picture', 'Save the view as PNG (P)', () => void this.#picture()),
      button('Link', `Copies a link to this view${info.ofServer ? '' : '. It holds the token of this server'}.`, () => void this.#copyLink()),
      this.sharing.element, button('Theme', 'Dark or light (T)', () => this.#theme()), button('Help', 'Keys (?)', () => keys.help()));
    this.#pointer();
    // After a click with the mouse, Space plays instead of pressing the button again.
    addEventListener('click', (event) => event.detail > 0 && (event.target as Element).closest('button')?.blur());
    const rates = new Rates(viewer);
    setInterval(() => {
      rates.show();
      this.#showSlots();
    }, 500);
    this.#background();
    this.#gizmo('turn', 'local');
    this.#recipes[0].text = state.recipes[0] ?? info.recipes[0] ?? 'lbs';
    this.#linkTimer = window.setTimeout(() => this.#writeLink(), 1000);
    if (!state.follow) return;
    for (const id of ['methods', 'pose', 'transport']) find(id).inert = true;
    for (const element of [this.#views.element, this.#flags.bones, this.#flags.muscles, this.#flags.status, this.sharing.element]) element.hidden = true;
    say(find('follow'), `Follows ${state.follow}: another page or program poses it, this one only shows it. ` +
      'When that ends, the last shape stays, and this page continues once it is shared again.');
  }

  // Says something for some seconds.
  tell(text: string, seconds = 4): void {
    this.#told = text;
    clearTimeout(this.#toldTimer);
    this.#toldTimer = window.setTimeout(() => {
      this.#told = '';
      this.#showSlots();
    }, seconds * 1000);
    this.#showSlots();
  }

  #set(flag: Flag | 'weights', on: boolean): void {
    this.viewer[flag] = on;
    this.viewer.overlay();
  }

  #choose(joint: number): void {
    this.viewer.vertex = -1;
    this.viewer.choose(joint);
  }

  #gizmo(mode: GizmoMode, space: GizmoSpace): void {
    Object.assign(this.viewer, {mode, space});
    this.#pose.mode = mode;
    this.#pose.space = space;
    this.viewer.overlay();
  }

  #showSlots(): void {
    const {viewer} = this;
    const two = viewer.view !== 'one';
    this.#recipes.forEach((panel, k) => {
      panel.element.hidden = k === 1 && !two;
      panel.update(viewer.slots[k]);
      const name = find(k ? 'name-b' : 'name-a');
      say(name, viewer.view === 'wipe' || viewer.view === 'side' ? viewer.slots[k].drawn : '');
    });
    if (two && document.activeElement?.closest('.recipe') !== this.#recipes[1].element) this.#recipes[1].text = viewer.slots[1].recipe;
    const waiting = viewer.slots.flatMap(({state}) => state.kind === 'waiting' ? [state.error] : [])[0] ?? null;
    const silence = Math.max(...viewer.slots.map((slot) => slot.silence));
    const [first] = viewer.slots;
    const bind = !first.shape && first.state.kind === 'binding' ? `Binding ${first.recipe} … ${Math.round(first.state.progress * 100)} %` : '';
    const gone = viewer.follows && waiting !== null && (waiting.code === NOT_FOUND || waiting.reason === 'PUBLISHER_ENDED');
    if (viewer.follows) this.#recipes[0].text = first.recipe;
    const trouble = gone ? `${viewer.follows} is not shared any more. The last shape is shown; this page continues once it is shared again.` :
      troubleText(viewer.connection, waiting, silence, viewer.info.ofServer) || viewer.problem;
    say(find('state'), trouble || this.#told || bind);
    find('state').classList.toggle('trouble', trouble !== '');
    this.#metrics.update();
    const stages = viewer.slots.flatMap(({session}) => session?.recipe?.stages ?? []);
    this.#pose.controlsUsed = !stages.length || stages.some(({method}) =>
      method.case === 'shapes' || viewer.rig.muscles > 0 && (method.case === 'implicit' || method.case === 'muscle'));
    this.#legend();
  }

  #legend(): void {
    const {viewer} = this;
    showStatusLegend(viewer);
    const weight = viewer.weights && viewer.joint >= 0 && !viewer.status;
    const heat = viewer.view === 'heat' && viewer.distance !== null && !weight && !viewer.status;
    find('legend').hidden = !weight && !heat;
    if (weight) {
      find('legend-title').textContent = `Weight of ${viewer.rig.joints[viewer.joint].name}`;
      find('legend-high').textContent = '1';
    } else if (heat) {
      const {largest, rms, scale} = viewer.distance!;
      find('legend-title').textContent = `Distance: largest ${this.#length(largest)}, root mean square ${this.#length(rms)}`;
      find('legend-high').textContent = this.#length(scale);
    }
  }

  #length(value: number): string {
    const meters = value * this.viewer.rig.metersPerUnit;
    return meters > 0 ? meters < 0.01 ? `${plainNumber(meters * 1e3, 3)} mm` : `${plainNumber(meters * 100, 3)} cm` : plainNumber(value, 3);
  }

  #showPose(): void {
    const {viewer} = this;
    this.#pose.update(viewer.joint, viewer.controls);
    this.#pose.showVertex(viewer.vertex);
    this.#transport.update();
    this.#metrics.update();
    this.#legend();
    this.#linkSoon();
  }

  #showLook(): void {
    const {viewer} = this;
    this.#views.set(viewer.view);
    find('view').classList.toggle('side', viewer.view === 'side');
    for (const flag of FLAGS) press(this.#flags[flag], viewer[flag]);
    this.#pose.weightsShown = viewer.weights;
    this.divider.show(viewer.view === 'wipe');
    viewer.wipe = this.divider.part;
    this.#legend();
    this.#linkSoon();
  }

  #linkSoon(): void {
    if (this.#linkTimer || this.viewer.player.playing) return;
    this.#linkTimer = window.setTimeout(() => this.#writeLink(), 400);
  }

  #state(): LinkState {
    const {viewer} = this;
    const {player, edits} = viewer;
    return {
      rig: viewer.info.ofServer ? viewer.info.rig : '', recipes: [viewer.slots[0].recipe, viewer.slots[1].recipe || viewer.second].filter((recipe) => recipe),
      view: viewer.view, wipe: this.divider.part, clip: player.clip?.name ?? '', frame: player.frame,
      joint: viewer.rig.joints[viewer.joint]?.name ?? '', vertex: viewer.vertex, weights: viewer.weights,
      ...Object.fromEntries(FLAGS.map((flag) => [flag, viewer[flag]])) as Record<Flag, boolean>, camera: viewer.scene.view,
      edits: edits.joints.size || edits.controls.size ? edits.text() : '', follow: viewer.follows,
    };
  }

  #writeLink(): void {
    this.#linkTimer = 0;
    history.replaceState(null, '', `#${writeLink(this.#state())}`);
  }

  async #copyLink(): Promise<void> {
    this.#writeLink();
    await this.#copy(this.sharing.address(location.hash.slice(1)), `The link is in the clipboard. ${this.sharing.aboutToken}`);
  }

  async #copy(text: string, done: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.tell(done);
    } catch {
      this.tell('The browser does not allow this page to copy.');
    }
  }

  async #picture(): Promise<void> {
    const text = (id: string) => find(id).textContent ?? '';
    const {scene, slots, view} = this.viewer;
    save(this.#fileName('.png'), await annotated(await scene.png(), scene.canvas.width / scene.canvas.clientWidth, {
      left: slots[0].drawn, right: view === 'one' ? '' : slots[1].drawn, border: scene.split,
      legend: find('legend').hidden ? null : {title: text('legend-title'), high: text('legend-high')},
      status: find('status-legend').hidden ? [] : [...find('status-legend').querySelectorAll('li')].map((row) =>
        ({text: row.textContent ?? '', colour: row.querySelector<HTMLElement>('.swatch')!.style.background})),
    }));
  }

  // The pose as an array for programs; the values of its controls, if it has some, are one of their own.
  #savePose(): void {
    const {rig: {joints, controls}, model, controls: values} = this.viewer;
    const names = [this.#fileName('.npy'), ...controls.length ? [this.#fileName('.controls.npy')] : []];
    save(names[0], new Blob([npy([1, joints.length, 12], model)]));
    if (controls.length) save(names[1], new Blob([npy([1, controls.length], values)]));
    this.tell(`Saved: ${names.join(' and ')}.`);
  }

  #fileName(ending: string): string {
    return `${this.viewer.info.label.replace(/\W+/g, '-')}-${this.viewer.player.frame}${ending}`;
  }

  #theme(): void {
    const theme = isDark() ? 'light' : 'dark';
    localStorage.setItem('theme', theme);
    setTheme(theme);
    this.#background();
  }

  #background(): void {
    this.viewer.scene.background = getComputedStyle(document.documentElement).getPropertyValue('--stage').trim();
  }

  // A click that does not drag picks.
  #pointer(): void {
    const canvas = find('canvas');
    let down: {x: number; y: number} | null = null;
    canvas.addEventListener('pointerdown', ({button, clientX, clientY}) => {
      down = button === 0 && !(this.viewer.scene.gizmo.axis && this.viewer.joint >= 0) ? {x: clientX, y: clientY} : null;
    });
    canvas.addEventListener('pointerup', ({clientX, clientY, pointerType}) => {
      if (down && Math.hypot(clientX - down.x, clientY - down.y) < (pointerType === 'mouse' ? 4 : 12)) this.viewer.pick(clientX, clientY);
      down = null;
    });
  }
}
