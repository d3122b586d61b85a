// Files that are dropped onto the page or chosen: a character, or poses of the one that is shown.

import {RigService} from '@proto/rig_service_pb';
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
    const field = make('input', {type: 'file', hidden: true, onchange: () => {
      this.#take(field.files);
      field.value = '';
    }});
    find('page-tools').prepend(button('Open', 'A character file, or poses as .npy; a drop onto the page does it, too', () => field.click()), field);
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
    this.#open(files).catch((error) => this.#say((error as Error).message, true)).finally(() => (this.#busy = false));
  }

  async #open(files: FileList): Promise<void> {
    const [file] = files;
    const ofServer = this.ofServer();
    if (files.length > 1) throw new Error(`Got ${files.length} files, need one.`);
    if (ofServer === null) throw new Error('The server has not answered yet.');
    if (file.size > MOST_BYTES) throw new Error(`${file.name}: got ${file.size} bytes, need at most ${MOST_BYTES}.`);
    this.#say(`Reading ${file.name} …`, false);
    const link = new URLSearchParams(location.hash.slice(1));
    if (/\.npy$/i.test(file.name) && !ofServer) {
      await this.#post('/motion', file);
      for (const key of ['clip', 'frame']) link.delete(key);
    } else {
      for (const key of [...link.keys()]) if (key !== 'recipe' && key !== 'view') link.delete(key);
      if (ofServer) link.set('rig', await this.#upload(file));
      else await this.#post('/character', file);
    }
    history.replaceState(null, '', `#${link}`);
    location.reload();
  }

  async #post(path: string, file: File): Promise<void> {
    const answer = await this.server.fetch(`${path}?name=${encodeURIComponent(file.name)}`, {method: 'POST', body: file});
    if (!answer.ok) throw new Error((await answer.text()).trim() || `The program answered ${answer.status}.`);
  }

  async #upload(file: File): Promise<string> {
    if (!/\.sinewrig$/i.test(file.name)) {
      throw new Error(`${file.name}: this server takes .sinewrig files only. "sinew export FILE --rig OUT.sinewrig" makes one of a character file.`);
    }
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
