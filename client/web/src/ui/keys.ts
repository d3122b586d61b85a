// The keys of the page, and the help that lists them.

import type {Flag} from '../link.ts';
import type {Viewer} from '../viewer.ts';
import {button, find, make} from './dom.ts';
import type {GizmoMode, GizmoSpace} from './pose_panel.ts';

export interface KeyActions {
  set(flag: Flag | 'weights', on: boolean): void;
  choose(joint: number): void;
  gizmo(mode: GizmoMode, space: GizmoSpace): void;
  resetJoint(): void;
  loop(): void;
  border(by: number): void; // of the wipe
  picture(): void;
  theme(): void;
}

type Acts = Record<string, (event: KeyboardEvent) => void>;

export class Keys {
  #rows: Array<[keys: string, what: string, acts: Acts]>;
  #acts: Acts;

  constructor(private readonly viewer: Viewer, page: KeyActions) {
    const {player, scene} = viewer;
    const flip = (flag: Flag | 'weights') => () => page.set(flag, !viewer[flag]);
    const nearer = () => scene.turn(0, 0, 0.9);
    this.#rows = [
      ['Space', 'play or pause', {' ': () => player.play(!player.playing)}],
      ['← →', 'one frame back or on', {
        ArrowLeft: ({shiftKey}) => shiftKey ? scene.turn(-0.1, 0) : player.step(-1),
        ArrowRight: ({shiftKey}) => shiftKey ? scene.turn(0.1, 0) : player.step(1)}],
      ['Page up, Page down', 'ten frames back or on', {PageUp: () => player.step(-10), PageDown: () => player.step(10)}],
      ['Home End', 'first or last frame', {Home: () => player.seek(0), End: () => player.seek(Infinity)}],
      ['L', 'loop', {l: page.loop}],
      ['F', 'frame the character', {f: () => viewer.frame()}],
      ['Shift + arrows', 'turn the view', {ArrowUp: () => scene.turn(0, -0.1), ArrowDown: () => scene.turn(0, 0.1)}],
      ['+ −', 'come nearer, go away', {'+': nearer, '=': nearer, '-': () => scene.turn(0, 0, 1 / 0.9)}],
      ['1 2 3 4', 'one recipe, wipe, heat map, side by side', {1: () => viewer.setView('one'), 2: () => viewer.setView('wipe'),
        3: () => viewer.setView('heat'), 4: () => viewer.setView('side')}],
      ['[ ]', 'move the border of the wipe', {'[': () => page.border(-0.02), ']': () => page.border(0.02)}],
      ['S', 'smooth or flat', {s: flip('flat')}],
      ['W', 'edges', {w: flip('edges')}],
      ['B', 'bones', {b: flip('bones')}],
      ['N', 'normals', {n: flip('normals')}],
      ['M', 'muscles', {m: flip('muscles')}],
      ['C', 'colours of the file', {c: flip('colours')}],
      ['I', 'vertex status of implicit skinning', {i: flip('status')}],
      ['V', 'weights of the joint', {v: flip('weights')}],
      ['E G', 'turn or move with the gizmo', {e: () => page.gizmo('turn', viewer.space), g: () => page.gizmo('move', viewer.space)}],
      ['X', 'axes: local, parent, world', {
        x: () => page.gizmo(viewer.mode, ({local: 'parent', parent: 'world', world: 'local'} as const)[viewer.space])}],
      ['R', 'reset the joint', {r: page.resetJoint}],
      ['Esc', 'choose no joint', {Escape: () => page.choose(-1)}],
      ['Ctrl Z, Ctrl Y', 'undo, redo', {}],
      ['P', 'save a picture', {p: page.picture}],
      ['T', 'dark or light', {t: page.theme}],
      ['?', 'this help', {'?': () => this.help()}],
    ];
    this.#acts = Object.assign({}, ...this.#rows.map(([, , acts]) => acts)) as Acts;
    addEventListener('keydown', (event) => this.#key(event));
  }

  help(): void {
    const dialog = find<HTMLDialogElement>('help');
    const letters = make('input', {type: 'checkbox', checked: localStorage.getItem('letters') !== 'off',
      onchange: () => localStorage.setItem('letters', letters.checked ? 'on' : 'off')});
    dialog.replaceChildren(Object.assign(make('h2', {}, 'Keys'), {id: 'help-title'}),
      make('dl', {}, ...this.#rows.flatMap(([keys, what]) => [make('dt', {}, keys), make('dd', {}, what)])),
      make('p', {}, 'Drag turns the view, the right button moves it, the wheel comes nearer. A click chooses the joint with the most weight.'),
      make('p', {}, make('label', {}, letters, ' Keys of one character act; space and ? always do')),
      button('Close', 'Close (Esc)', () => dialog.close()));
    dialog.showModal();
  }

  #key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    const {viewer} = this;
    const field = target.closest('input:not([type=range]):not([type=checkbox]), select, textarea, dialog');
    if (event.ctrlKey || event.metaKey) {
      const act = {z: event.shiftKey ? 'redo' : 'undo', y: 'redo'}[event.key.toLowerCase()] as 'undo' | 'redo' | undefined;
      if (!act || field) return;
      event.preventDefault();
      if (viewer.edits[act]()) viewer.posed();
      return;
    }
    if (field || event.altKey) return;
    // In a small window these scroll, unless the view has the focus.
    const scrolls = document.documentElement.scrollHeight > innerHeight && target.id !== 'canvas';
    if (!event.shiftKey && (/^Arrow(Up|Down)$/.test(event.key) || (scrolls && /^(Page|Home|End)/.test(event.key)))) return;
    if (event.key.length === 1 && !/[ ?]/.test(event.key) && localStorage.getItem('letters') === 'off') return;
    const slider = target.matches('input[type=range], [role=slider]');
    if (event.key === ' ' ? target.matches('button, summary, input') : slider && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    const act = this.#acts[event.key] ?? this.#acts[event.key.toLowerCase()];
    if (!act) return;
    act(event);
    event.preventDefault();
  }
}
