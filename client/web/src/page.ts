// The page once it has a character: panels, keys, link, what it says.

import {FLAGS, START, writeLink, type Flag, type LinkState} from './link.ts';
import {subjectOf} from './metrics.ts';
import {Server} from './server.ts';
import {troubleText} from './trouble.ts';
import {NOT_FOUND} from './wire.ts';
import {button, choice, find, make, plainNumber, press, say, toggle} from './ui/dom.ts';
import {MetricsPanel} from './ui/metrics_panel.ts';
import {annotated} from './ui/picture.ts';
import {PosePanel, type GizmoMode, type GizmoSpace} from './ui/pose_panel.ts';
import {RecipePanel} from './ui/recipe_panel.ts';
import {showStatusLegend} from './ui/status_legend.ts';
import {Transport} from './ui/transport.ts';
import {listMethods, Viewer, type ViewInfo} from './viewer.ts';

const KEYS: Array<[string, string]> = [
  ['Space', 'play or pause'], ['← →', 'one frame back or on'], ['Page up, Page down', 'ten frames back or on'], ['Home End', 'first or last frame'], ['L', 'loop'],
  ['F', 'frame the character'], ['Shift + arrows', 'turn the view'], ['+ −', 'come nearer, go away'],
  ['1 2 3 4', 'one recipe, wipe, heat map, side by side'], ['[ ]', 'move the border of the wipe'],
  ['S', 'smooth or flat'], ['W', 'edges'], ['B', 'bones'], ['N', 'normals'], ['M', 'muscles'], ['C', 'colours of the file'],
  ['I', 'vertex status of implicit skinning'], ['V', 'weights of the joint'],
  ['E G', 'turn or move with the gizmo'], ['X', 'axes: local, parent, world'], ['R', 'reset the joint'], ['Esc', 'choose no joint'],
  ['Ctrl Z, Ctrl Y', 'undo, redo'], ['P', 'save a picture'], ['T', 'dark or light'], ['?', 'this help'],
];

export function setTheme(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
}

const isDark = () => getComputedStyle(document.documentElement).colorScheme.includes('dark');

export class Page {
  readonly viewer: Viewer;
  split = START.wipe;
  #recipes: RecipePanel[];
  #pose: PosePanel;
  #metrics: MetricsPanel;
  #transport: Transport;
  #views;
  #flags: Record<Flag, HTMLButtonElement>;
  #share = toggle('Share', 'Lets other pages and programs follow recipe A, and copies the link', (on) => void this.#shareNew(on));
  #linkTimer = 0;
  #told = '';
  #toldTimer = 0;
  #rates = {at: performance.now(), shown: 0, bytes: 0, skipped: 0};

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
    });
    find('pose').append(this.#pose.element);
    this.#transport = new Transport(viewer.player, (error) => this.tell((error as Error).message));
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
    find('page-tools').append(button('Picture', 'Save the view as PNG (P)', () => void this.#picture()),
      button('Link', `Copies a link to this view${info.ofServer ? '' : '. It holds the token of this server'}.`, () => void this.#copyLink()),
      this.#share, button('Theme', 'Dark or light (T)', () => this.#theme()), button('Help', 'Keys (?)', () => this.#help()));
    this.#divider();
    this.#pointer();
    addEventListener('keydown', (event) => this.#key(event));
    // After a click with the mouse, Space plays instead of pressing the button again.
    addEventListener('click', (event) => event.detail > 0 && (event.target as Element).closest('button')?.blur());
    setInterval(() => this.#showRates(), 500);
    this.#background();
    this.#gizmo('turn', 'local');
    this.#recipes[0].text = state.recipes[0] ?? info.recipes[0] ?? 'lbs';
    this.#linkTimer = window.setTimeout(() => this.#writeLink(), 1000);
    if (!state.follow) return;
    for (const id of ['methods', 'pose', 'transport']) find(id).inert = true;
    for (const element of [this.#views.element, this.#flags.bones, this.#flags.muscles, this.#flags.status, this.#share]) element.hidden = true;
    say(find('follow'), `Follows ${state.follow}: another page or program poses it, this one only shows it. ` +
      'When that ends, the last shape stays, and this page continues once it is shared again.');
  }

  // Others may follow recipe A under this name; '' = no longer. After a reload of the page, too.
  share(name: string): void {
    sessionStorage.setItem('share', name && JSON.stringify({name, rig: this.viewer.info.rig}));
    press(this.#share, name !== '');
    say(find('label'), name ? `${this.viewer.info.label} · shared as ${name}` : this.viewer.info.label);
    this.viewer.share(name);
  }

  async #shareNew(on: boolean): Promise<void> {
    if (!on) return this.share('');
    const random = crypto.getRandomValues(new Uint16Array(1))[0].toString(16).padStart(4, '0');
    const name = `${this.viewer.info.label.replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 40)}-${random}`;
    this.share(name);
    await this.#copy(this.#withToken(writeLink({...START, follow: name})),
      `Shared as ${name}. The link to follow it is in the clipboard. ${this.#aboutToken()}`);
  }

  // The address of a link. The token of a program opens its page; that of a person stays theirs.
  #withToken(link: string): string {
    const token = this.viewer.info.ofServer ? '' : `&token=${encodeURIComponent(sessionStorage.getItem('token') ?? '')}`;
    return `${location.origin}${location.pathname}#${link}${token}`;
  }

  #aboutToken(): string {
    return this.viewer.info.ofServer ? 'Your token is not in it.' : 'It holds the token of this server.';
  }

  // Says something for some seconds.
  tell(text: string): void {
    this.#told = text;
    clearTimeout(this.#toldTimer);
    this.#toldTimer = window.setTimeout(() => {
      this.#told = '';
      this.#showSlots();
    }, 4000);
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
    const divider = find('divider');
    divider.hidden = viewer.view !== 'wipe';
    divider.style.left = `${this.split * 100}%`;
    divider.setAttribute('aria-valuenow', String(Math.round(this.split * 100)));
    viewer.wipe = this.split;
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
      view: viewer.view, wipe: this.split, clip: player.clip?.name ?? '', frame: player.frame,
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
    await this.#copy(this.#withToken(location.hash.slice(1)), `The link is in the clipboard. ${this.#aboutToken()}`);
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
    const url = URL.createObjectURL(await annotated(await scene.png(), scene.canvas.width / scene.canvas.clientWidth, {
      left: slots[0].drawn, right: view === 'one' ? '' : slots[1].drawn, border: scene.split,
      legend: find('legend').hidden ? null : {title: text('legend-title'), high: text('legend-high')},
      status: find('status-legend').hidden ? [] : [...find('status-legend').querySelectorAll('li')].map((row) =>
        ({text: row.textContent ?? '', colour: row.querySelector<HTMLElement>('.swatch')!.style.background})),
    }));
    make('a', {href: url, download: `${this.viewer.info.label.replace(/\W+/g, '-')}-${this.viewer.player.frame}.png`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
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

  #help(): void {
    const dialog = find<HTMLDialogElement>('help');
    const letters = make('input', {type: 'checkbox', checked: localStorage.getItem('letters') !== 'off',
      onchange: () => localStorage.setItem('letters', letters.checked ? 'on' : 'off')});
    dialog.replaceChildren(Object.assign(make('h2', {}, 'Keys'), {id: 'help-title'}),
      make('dl', {}, ...KEYS.flatMap(([keys, what]) => [make('dt', {}, keys), make('dd', {}, what)])),
      make('p', {}, 'Drag turns the view, the right button moves it, the wheel comes nearer. A click chooses the joint with the most weight.'),
      make('p', {}, make('label', {}, letters, ' Keys of one character act; space and ? always do')),
      button('Close', 'Close (Esc)', () => dialog.close()));
    dialog.showModal();
  }

  #showRates(): void {
    const {viewer} = this;
    const now = {at: performance.now(), shown: viewer.shown, bytes: viewer.streams.bytes,
      skipped: viewer.slots.reduce((sum, slot) => sum + slot.skipped, 0)};
    const seconds = (now.at - this.#rates.at) / 1000;
    const times = viewer.slots.flatMap(({shape}, k) => shape ? [`${'AB'[k]} ${plainNumber(shape.evaluateSeconds * 1e3, 2)} ms`] : []);
    const aSecond = (key: 'shown' | 'skipped' | 'bytes') => (now[key] - this.#rates[key]) / seconds;
    const delay = Math.max(...viewer.slots.filter(({shape}) => shape).map((slot) => slot.delay));
    find('rates').textContent = [`${Math.round(aSecond('shown'))} frames/s`, `${Math.round(aSecond('skipped'))} left out`,
      ...(delay >= 0 && !viewer.follows ? [`delay ${Math.round(delay * 1e3)} ms`] : []), `${(aSecond('bytes') / 1e6).toFixed(1)} MB/s`,
      ...(times.length ? [`deforming ${times.join(', ')}`] : []), `${viewer.rig.vertices.toLocaleString('en')} vertices`].join(' · ');
    this.#rates = now;
    this.#showSlots();
  }

  #divider(): void {
    const divider = find('divider');
    const move = (part: number) => {
      this.split = Math.min(1, Math.max(0, part));
      this.#showLook();
    };
    divider.onpointerdown = (event) => divider.setPointerCapture(event.pointerId);
    divider.onpointermove = (event) => {
      if (!divider.hasPointerCapture(event.pointerId)) return;
      const box = find('canvas').getBoundingClientRect();
      move((event.clientX - box.left) / box.width);
    };
    divider.onkeydown = (event) => {
      const step = {ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      move(this.split + step);
    };
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

  #key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const field = target.closest('input:not([type=range]):not([type=checkbox]), select, textarea, dialog');
    const {viewer} = this;
    const {player} = viewer;
    if (event.ctrlKey || event.metaKey) {
      const act = {z: event.shiftKey ? 'redo' : 'undo', y: 'redo'}[event.key.toLowerCase()] as 'undo' | 'redo' | undefined;
      if (!act || field) return;
      event.preventDefault();
      if (viewer.edits[act]()) viewer.posed();
      return;
    }
    if (field || event.altKey) return;
    const slider = target.matches('input[type=range], [role=slider]');
    const turns = event.shiftKey;
    // In a small window these scroll, unless the view has the focus.
    const scrolls = document.documentElement.scrollHeight > innerHeight && target.id !== 'canvas';
    if (!turns && (/^Arrow(Up|Down)$/.test(event.key) || (scrolls && /^(Page|Home|End)/.test(event.key)))) return;
    if (event.key.length === 1 && !/[ ?]/.test(event.key) && localStorage.getItem('letters') === 'off') return;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => turns ? viewer.scene.turn(-0.1, 0) : player.step(-1),
      ArrowRight: () => turns ? viewer.scene.turn(0.1, 0) : player.step(1),
      ArrowUp: () => viewer.scene.turn(0, -0.1),
      ArrowDown: () => viewer.scene.turn(0, 0.1),
      PageUp: () => player.step(-10),
      PageDown: () => player.step(10),
      Home: () => player.seek(0),
      End: () => player.seek(Infinity),
      '+': () => viewer.scene.turn(0, 0, 0.9), '=': () => viewer.scene.turn(0, 0, 0.9), '-': () => viewer.scene.turn(0, 0, 1 / 0.9),
      l: () => {
        player.loop = !player.loop;
        this.#transport.update();
      },
      f: () => viewer.frame(), 1: () => viewer.setView('one'), 2: () => viewer.setView('wipe'), 3: () => viewer.setView('heat'), 4: () => viewer.setView('side'),
      '[': () => this.#moveSplit(-0.02), ']': () => this.#moveSplit(0.02),
      s: () => this.#set('flat', !viewer.flat), w: () => this.#set('edges', !viewer.edges), b: () => this.#set('bones', !viewer.bones),
      c: () => this.#set('colours', !viewer.colours),
      n: () => this.#set('normals', !viewer.normals), m: () => this.#set('muscles', !viewer.muscles), i: () => this.#set('status', !viewer.status),
      v: () => this.#set('weights', !viewer.weights),
      e: () => this.#gizmo('turn', viewer.space), g: () => this.#gizmo('move', viewer.space),
      x: () => this.#gizmo(viewer.mode, ({local: 'parent', parent: 'world', world: 'local'} as const)[viewer.space]),
      r: () => this.#pose.resetJoint(), Escape: () => this.#choose(-1), p: () => void this.#picture(), t: () => this.#theme(), '?': () => this.#help(),
    };
    if (event.key === ' ' && !target.matches('button, summary, input')) player.play(!player.playing);
    else if (slider && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    else if (acts[event.key] ?? acts[event.key.toLowerCase()]) (acts[event.key] ?? acts[event.key.toLowerCase()])();
    else return;
    event.preventDefault();
  }

  #moveSplit(by: number): void {
    this.split = Math.min(1, Math.max(0, this.split + by));
    this.#showLook();
  }
}
