// The clips of the character and the time in the one that is shown.

import type {Server} from './server.ts';

// What the server says of a clip.
export interface ClipInfo {
  name: string;
  frames: number;
  fps: number;
  path: string; // where its poses are
}

interface Clip extends ClipInfo {
  index: number;
  transforms: Float32Array; // [frames * J * 12]
  controls: Float32Array; // [frames * C]
}

export class Player {
  clip: Clip | null = null; // null = the rest pose
  frame = 0;
  playing = false;
  loop = true;
  speed = 1;
  #loaded = new Map<number, Clip>();
  #choice = 0;
  #seconds = 0;
  #before = 0;

  // Calls `changed` for each new frame, and when playback starts or stops.
  constructor(private readonly server: Server, readonly clips: ClipInfo[], private readonly joints: number,
    private readonly controls: number, private readonly changed: () => void) {}

  // Changes to a clip by its index; -1 = the rest pose.
  async choose(index: number, frame = 0): Promise<void> {
    const choice = ++this.#choice;
    if (index in this.clips && !this.#loaded.has(index)) {
      const floats = async (path: string) => new Float32Array(await (await this.server.get(path)).arrayBuffer());
      const transforms = await floats(this.clips[index].path);
      const controls = this.controls ? await floats(`${this.clips[index].path}/controls`) : new Float32Array();
      this.#loaded.set(index, {...this.clips[index], index, frames: transforms.length / (this.joints * 12), transforms, controls});
    }
    if (choice !== this.#choice) return; // another was chosen meanwhile
    this.clip = this.#loaded.get(index) ?? null;
    if (!this.clip) this.playing = false;
    this.seek(frame);
  }

  // Matrices and control values of a frame; null in the rest pose.
  poseAt(frame: number): {transforms: Float32Array; controls: Float32Array} | null {
    if (!this.clip) return null;
    const part = (all: Float32Array, size: number) => all.subarray(frame * size, (frame + 1) * size);
    return {transforms: part(this.clip.transforms, this.joints * 12), controls: part(this.clip.controls, this.controls)};
  }

  seek(frame: number): void {
    const last = (this.clip?.frames ?? 1) - 1;
    this.frame = Math.min(last, Math.max(0, frame));
    this.#seconds = this.clip ? this.frame / this.clip.fps : 0;
    this.changed();
  }

  step(frames: number): void {
    this.play(false);
    const count = this.clip?.frames ?? 1;
    this.seek(this.loop ? (this.frame + frames + count) % count : this.frame + frames);
  }

  play(on: boolean): void {
    if (this.playing === on || (on && !this.clip)) return;
    this.playing = on;
    if (on) {
      if (!this.loop && this.frame === this.clip!.frames - 1) this.seek(0);
      this.#seconds = this.frame / this.clip!.fps;
      this.#before = performance.now();
      requestAnimationFrame((now) => this.#tick(now));
    }
    this.changed();
  }

  #tick(now: number): void {
    if (!this.playing || !this.clip) return;
    const {frames, fps} = this.clip;
    this.#seconds += Math.max(0, now - this.#before) / 1000 * this.speed;
    this.#before = now;
    const frame = Math.floor(this.#seconds * fps + 1e-6);
    if (frame >= frames && !this.loop) {
      this.playing = false;
      this.seek(frames - 1);
      return;
    }
    if (frame >= frames) this.#seconds %= frames / fps;
    if (frame % frames !== this.frame) {
      this.frame = frame % frames;
      this.changed();
    }
    requestAnimationFrame((time) => this.#tick(time));
  }
}
