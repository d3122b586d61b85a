// What a link restores: the fragment of the address, without the token.

export interface LinkState {
  rig: string; // of a server; '' = what the program shows
  recipes: string[]; // one, or two to compare, of which the second may not be shown
  view: 'one' | 'wipe' | 'heat' | 'side';
  wipe: number; // 0 to 1
  clip: string; // '' = the rest pose
  frame: number;
  joint: string;
  weights: boolean;
  vertex: number; // -1 = none
  flat: boolean;
  edges: boolean;
  bones: boolean;
  normals: boolean;
  muscles: boolean;
  status: boolean;
  colours: boolean;
  camera: number[]; // position, target; empty = framed
  edits: string; // Edits.text(); '' = none
  follow: string; // the stream that is shown instead of one of its own; '' = none
}

export const START: LinkState = {
  rig: '', recipes: [], view: 'one', wipe: 0.5, clip: '', frame: 0, joint: '', weights: false, vertex: -1,
  flat: false, edges: false, bones: false, normals: false, muscles: false, status: false, colours: false, camera: [], edits: '', follow: '',
};

// Switches of what is drawn.
export const FLAGS = ['flat', 'edges', 'bones', 'normals', 'muscles', 'status', 'colours'] as const;
export type Flag = typeof FLAGS[number];

const short = (x: number) => Number(x.toPrecision(6));

// The clip, and what differs from START.
export function writeLink(state: LinkState): string {
  const keys = new URLSearchParams();
  if (state.rig) keys.set('rig', state.rig);
  state.recipes.forEach((recipe) => keys.append('recipe', recipe));
  if (state.view !== START.view) keys.set('view', state.view);
  if (state.wipe !== START.wipe) keys.set('wipe', String(short(state.wipe)));
  if (state.follow) keys.set('follow', state.follow);
  else keys.set('clip', state.clip); // a link says which, even if it is the rest pose
  if (state.frame) keys.set('frame', String(state.frame));
  if (state.joint) keys.set('joint', state.joint);
  if (state.vertex >= 0) keys.set('vertex', String(state.vertex));
  for (const flag of ['weights', ...FLAGS] as const) if (state[flag]) keys.set(flag, '1');
  if (state.camera.length) keys.set('camera', state.camera.map(short).join(' '));
  if (state.edits) keys.set('edits', state.edits);
  return keys.toString();
}

// Anything that is missing or malformed is as in START. `token` is null if the fragment has none.
export function readLink(fragment: string): {state: LinkState; token: string | null; clipGiven: boolean} {
  const keys = new URLSearchParams(fragment.replace(/^#/, ''));
  const number = (key: string, least: number, most: number, otherwise: number) => {
    const value = Number(keys.get(key) ?? NaN);
    return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : otherwise;
  };
  const view = keys.get('view');
  const camera = (keys.get('camera') ?? '').split(' ').map(Number);
  const looks = camera.length === 6 && camera.every(Number.isFinite) && [0, 1, 2].some((k) => camera[k] !== camera[k + 3]);
  const state: LinkState = {
    rig: keys.get('rig') ?? '',
    recipes: keys.getAll('recipe').slice(0, 2),
    view: view === 'wipe' || view === 'heat' || view === 'side' ? view : START.view,
    wipe: number('wipe', 0, 1, START.wipe),
    clip: keys.get('clip') ?? '',
    frame: Math.round(number('frame', 0, 1e7, 0)),
    joint: keys.get('joint') ?? '',
    vertex: Math.round(number('vertex', 0, 1e9, -1)),
    weights: keys.get('weights') === '1',
    ...Object.fromEntries(FLAGS.map((flag) => [flag, keys.get(flag) === '1'])) as Record<Flag, boolean>,
    camera: looks ? camera : [],
    edits: keys.get('edits') ?? '',
    follow: keys.get('follow') ?? '',
  };
  return {state, token: keys.get('token'), clipGiven: keys.has('clip')};
}
