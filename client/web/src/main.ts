// Starts the page: token, character, link.

import {askingToken, chooseRig, readView} from './character.ts';
import {Files} from './files.ts';
import {openingOf} from './follow.ts';
import {FLAGS, readLink, type LinkState} from './link.ts';
import {Page, setTheme} from './page.ts';
import {downloadRig} from './rig.ts';
import {Server, BackOff} from './server.ts';
import {CallError, NOT_FOUND} from './wire.ts';
import {find} from './ui/dom.ts';
import {listMethods, type ViewInfo} from './viewer.ts';

// The token comes in the fragment, stays in this tab and leaves the address bar.
function takeToken(): {token: string; state: LinkState; clipGiven: boolean} {
  const {token, state, clipGiven} = readLink(location.hash);
  if (token) {
    sessionStorage.setItem('token', token);
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete('token');
    history.replaceState(null, '', `#${rest}`);
  }
  return {token: sessionStorage.getItem('token') ?? '', state, clipGiven};
}

async function start(): Promise<void> {
  addEventListener('hashchange', () => location.reload()); // another link was opened here
  for (const kind of ['dragover', 'drop']) addEventListener(kind, (event) => event.preventDefault());
  setTheme(localStorage.getItem('theme') ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'));
  const {token, state, clipGiven} = takeToken();
  const text = find('start-text');
  const progress = find<HTMLProgressElement>('start-progress');
  const server = new Server(token);
  const backOff = new BackOff();
  let ofServer: boolean | null = null;
  let wanted = state.rig;
  if (!state.follow) new Files(server, () => ofServer);
  while (true) { // until the server is there, and the stream to follow
    try {
      const view = await readView(server);
      ofServer = view === null;
      const info = state.follow ? await followed(server, state.follow, view) : view ?? await chooseRig(server, wanted);
      wanted = info.rig;
      text.textContent = `Loading ${info.label} …`;
      const [methods, rig] = await Promise.all([listMethods(server), downloadRig(server, info.rig, (part) => (progress.value = part))]);
      if (info.ofServer && !state.follow) info.label = rig.label || info.rig;
      await run(new Page(server, info, rig, methods, state), state, clipGiven);
      find('start').hidden = true;
      return;
    } catch (error) {
      const notShared = state.follow !== '' && error instanceof CallError && error.code === NOT_FOUND;
      text.textContent = notShared ? `Waiting until ${state.follow} is shared …` : (error as Error).message;
      if (!(error instanceof CallError)) throw error;
      if (!notShared && !error.passing) {
        progress.hidden = true;
        return;
      }
      await backOff.wait();
    }
  }
}

// What a page shows that follows a stream: its rig, and no clips.
async function followed(server: Server, name: string, view: ViewInfo | null): Promise<ViewInfo> {
  const {source} = await askingToken(server, () => openingOf(server, name));
  return {version: '', label: name, rig: source!.rig, recipes: [], clip: -1, clips: [],
    paint: view?.rig === source!.rig ? view.paint : null, ofServer: view === null};
}

async function run(page: Page, state: LinkState, clipGiven: boolean): Promise<void> {
  const {viewer} = page;
  const {clips, recipes} = viewer.info;
  viewer.edits.read(state.edits);
  for (const flag of FLAGS) viewer[flag] = state[flag];
  Object.assign(viewer, {weights: state.weights, vertex: state.vertex < viewer.rig.vertices ? state.vertex : -1});
  viewer.camera = state.camera;
  page.divider.part = state.wipe;
  if (state.follow) {
    viewer.overlay();
    return viewer.follow(state.follow);
  }
  page.tell(await page.sharing.again(), 15);
  viewer.recipe(0, state.recipes[0] ?? recipes[0] ?? 'lbs');
  viewer.view = state.view;
  const second = state.recipes[1] ?? (recipes.length > 1 && !state.recipes.length ? recipes[1] : '');
  if (state.view === 'one') viewer.second = second;
  else if (second) viewer.recipe(1, second);
  viewer.setView(state.view);
  viewer.choose(viewer.rig.joints.findIndex(({name}) => name === state.joint));
  const named = clips.findIndex(({name}) => name === state.clip);
  if (state.clip && named < 0) page.tell(`The link names the clip ${state.clip}, which this character does not have.`, 15);
  viewer.player.choose(clipGiven ? named : viewer.info.clip, state.frame).catch((error) => page.tell((error as Error).message));
}

void start();
