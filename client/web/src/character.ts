// Which character the page shows: that of `sinew view`, or a rig of the server, chosen here.

import type {RigSummary} from '@proto/rig_service_pb';
import {RigService} from '@proto/rig_service_pb';
import type {Server} from './server.ts';
import type {ViewInfo} from './viewer.ts';
import {CallError, UNAUTHENTICATED} from './wire.ts';
import {button, find, make} from './ui/dom.ts';

// What the program says of its character; null: it has none, and the server's rigs are there to choose from.
export async function readView(server: Server): Promise<ViewInfo | null> {
  return await (await server.get('/view.json')).json() as ViewInfo | null;
}

// Asks for a rig unless `wanted` is one of the server's.
export async function chooseRig(server: Server, wanted: string): Promise<ViewInfo> {
  const rigs = await askingToken(server, () => listRigs(server));
  const rig = rigs.some(({name}) => name === wanted) ? wanted : await askRig(rigs);
  return {version: '', label: rig, rig, recipes: ['lbs', 'ddm'], clip: -1, clips: [], paint: null, ofServer: true};
}

// The result of `call`, made again with another token as long as the server refuses the token.
export async function askingToken<Result>(server: Server, call: () => Promise<Result>): Promise<Result> {
  while (true) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== UNAUTHENTICATED) throw error;
      server.token = await askToken(server.token ? 'The server does not accept this token.' : 'This server needs a token.');
      sessionStorage.setItem('token', server.token);
    }
  }
}

async function listRigs(server: Server): Promise<RigSummary[]> {
  const all = [];
  let pageToken = '';
  do {
    const page = await server.unary(RigService.method.listRigs, {pageToken});
    all.push(...page.rigs);
    pageToken = page.nextPageToken;
  } while (pageToken);
  return all.sort((a, b) => Number((b.createTime?.seconds ?? 0n) - (a.createTime?.seconds ?? 0n)));
}

// Shows `form` in place of the progress until `start` has called its argument.
function ask(text: string, start: (answer: (value: string) => void) => HTMLElement): Promise<string> {
  find('start-text').textContent = text;
  find('start-progress').hidden = true;
  return new Promise((resolve) => {
    const form = start((value) => {
      form.remove();
      find('start-progress').hidden = false;
      resolve(value);
    });
    find('start').append(form);
    form.querySelector<HTMLElement>('input, button')?.focus();
  });
}

const askToken = (text: string) => ask(text, (answer) => {
  const field = make('input', {type: 'password', autocomplete: 'off', required: true, 'aria-label': 'Token'});
  return make('form', {className: 'row', onsubmit: (event: Event) => {
    event.preventDefault();
    answer(field.value.trim());
  }}, field, make('button', {}, 'Sign in'));
});

const askRig = (rigs: RigSummary[]) => ask(rigs.length ? 'Rigs of this server, the newest first' :
  'This server has no rigs yet. Drop a .sinewrig file here, or press Open.', (answer) =>
  make('ul', {className: 'rigs'}, ...rigs.map((rig) => make('li', {}, button(describe(rig), rig.name, () => answer(rig.name))))));

function describe({name, vertices, meshes, createTime, withoutWeights}: RigSummary): string {
  const names = meshes.map((mesh) => mesh.name).filter((mesh) => mesh).slice(0, 3).join(', ');
  const time = createTime ? new Date(Number(createTime.seconds) * 1000).toLocaleString() : '';
  return [names, `${Number(vertices).toLocaleString('en')} vertices`, withoutWeights ? 'no weights' : '', time,
    name.replace(/^rigs\/sha256-(.{8}).*/, '$1…')].filter((part) => part).join(' · ');
}
