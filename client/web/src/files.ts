// Files that are dropped onto the page or chosen: a character, or poses of the one that is shown.

import {RigService} from '@proto/rig_service_pb';
import {withSideFiles} from './gltf_files.ts';
import {holdsControls} from './npy.ts';
import type {Server} from './server.ts';
import {button, find, make} from './ui/dom.ts';

const MOST_BYTES = 2 ** 30; // as the port takes
const PIECE_BYTES = 2 ** 20;

export class Files {
  #notice = make('p', {id: 'notice', hidden: true});
  #busy = false;

  // ofServer: null while it is not known yet whether the program imports files or the server stores rigs only.
  constructor(private readonly server: Server, private readonly ofServer: () => boolean | null) {
    this.#notice.setAttribute('role', 'alert');
    const field = make('input', {type: 'file', multiple: true, hidden: true, onchange: () => {
      this.#take(field.files);
      field.value = '';
    }});
    find('page-tools').prepend(button('Open', 'A character file, a .gltf with its side files, or poses as .npy; a drop onto the page does it, too', () => field.click()), field);
    document.body.append(this.#notice);
    addEventListener('drop', (event) => {
      this.#take(event.dataTransfer?.files ?? null);
    });
    addEventListener('keydown', (event) => event.key === 'Escape' && !this.#busy && (this.#notice.hidden = true));
  }

  #say(text: string, error: boolean): void {
    this.#notice.classList.toggle('error', error);
    this.#notice.hidden = false;
    this.#notice.replaceChildren(text, ' ', ...(error ? [button('Close', 'Closes this message (Esc)', () => (this.#notice.hidden = true))] : []));
  }

  #take(files: FileList | null): void {
    if (!files?.length || this.#busy) return;
    this.#busy = true;
    // A copy, since the field empties its list.
    this.#open([...files]).catch((error) => this.#say((error as Error).message, true)).finally(() => (this.#busy = false));
  }

  async #open(files: File[]): Promise<void> {
    const ofServer = this.ofServer();
    if (ofServer === null) throw new Error('The server has not answered yet.');
    for (const {name, size} of files) if (size > MOST_BYTES) throw new Error(`${name}: got ${size} bytes, need at most ${MOST_BYTES}.`);
    await Promise.all(files.map((file) => file.slice(0, 1).arrayBuffer().catch(() => {
      throw new Error(`${file.name}: cannot be read. Folders are not taken, only files.`);
    })));
    const link = new URLSearchParams(location.hash.slice(1));
    if (files.every(({name}) => /\.npy$/i.test(name)) && !ofServer) {
      for (const file of await this.#motion(files)) await this.#post('/motion', file);
      for (const key of ['clip', 'frame', 'edits']) link.delete(key); // poses are shown as they are in the file
    } else {
      const file = await this.#character(files);
      for (const key of [...link.keys()]) if (key !== 'recipe' && key !== 'view') link.delete(key);
      if (ofServer) link.set('rig', await this.#upload(file));
      else await this.#post('/character', file);
    }
    history.replaceState(null, '', `#${link}`);
    location.reload();
  }

  // Poses, and the values of their controls after them.
  async #motion(files: File[]): Promise<File[]> {
    const areControls = await Promise.all(files.map(holdsControls));
    if (files.length > 2 || (files.length === 2 && areControls[0] === areControls[1])) {
      throw new Error(`Got ${files.length} .npy files, need one of poses, and one of control values if they have some.`);
    }
    return areControls[0] ? files.reverse() : files;
  }

  async #character(files: File[]): Promise<File> {
    const chosen = files.filter(({name}) => files.length === 1 || /\.gltf$/i.test(name));
    if (chosen.length !== 1) throw new Error(`Got ${files.length} files, need one, or one .gltf with the files that it names.`);
    return /\.gltf$/i.test(chosen[0].name) ? withSideFiles(chosen[0], files) : chosen[0];
  }

  async #post(path: string, file: File): Promise<void> {
    this.#say(`Reading ${file.name} …`, false);
    const answer = await this.server.fetch(`${path}?name=${encodeURIComponent(file.name)}`, {method: 'POST', body: file});
    if (!answer.ok) throw new Error((await answer.text()).trim() || `The program answered ${answer.status}.`);
  }

  async #upload(file: File): Promise<string> {
    if (/\.npy$/i.test(file.name)) throw new Error(`${file.name}: this server plays no files of poses; "sinew view" does.`);
    if (!/\.sinewrig$/i.test(file.name)) {
      throw new Error(`${file.name}: this server takes .sinewrig files only. "sinew export FILE --rig OUT.sinewrig" makes one of a character file.`);
    }
    this.#say(`Reading ${file.name} …`, false);
    const bytes = new Uint8Array(await file.arrayBuffer());
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const pieces = Array.from({length: Math.max(1, Math.ceil(bytes.length / PIECE_BYTES))}, (_, k) => ({
      header: k ? undefined : {sha256, sizeBytes: BigInt(bytes.length)},
      offset: BigInt(k * PIECE_BYTES),
      data: bytes.subarray(k * PIECE_BYTES, (k + 1) * PIECE_BYTES),
    }));
    const {rig} = await this.server.upload(RigService.method.uploadRig, pieces).catch((error) => {
      throw new Error(`${file.name}: ${(error as Error).message}`);
    });
    return rig!.name;
  }
}
