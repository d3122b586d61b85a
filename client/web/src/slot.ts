// One recipe of the page: its bind, its stream, the newest shape.

import {Attribute, Compression, Encoding, type Frame} from '@proto/frame_pb';
import {JointFormat, Space} from '@proto/pose_pb';
import {DeformService, Notice_Kind, OrderMode, type StreamDeformResponse, type WatchOpened} from '@proto/deform_service_pb';
import {Session_State, SessionService, type Session} from '@proto/session_service_pb';
import {BackOff} from './server.ts';
import {shapeOf, type Shape} from './shape.ts';
import type {Call, Streams} from './stream.ts';
import {ALREADY_EXISTS, CallError, CANCELLED, INVALID_ARGUMENT, NOT_FOUND, UNAVAILABLE, UNKNOWN} from './wire.ts';

// What frames have beyond positions and normals.
export interface Extras {
  status: boolean; // of recipes that write it
  muscles: boolean; // of rigs that have some
}

export type SlotState =
  | {kind: 'off'}
  | {kind: 'binding'; progress: number}
  | {kind: 'live'}
  | {kind: 'waiting'; error: CallError} // tries again by itself
  | {kind: 'failed'; error: CallError}; // until the recipe changes

export interface SlotEvents {
  state(): void;
  // A stream has been opened: it wants a pose.
  live(): void;
  shape(shape: Shape): void;
  // The pose of this frame could not be evaluated.
  problem(message: string): void;
}

export class Slot {
  recipe = '';
  drawn = ''; // the recipe of the shape
  publish = ''; // the name under which others follow its streams; '' = none
  state: SlotState = {kind: 'off'};
  session: Session | null = null;
  shape: Shape | null = null;
  skipped = 0; // poses that a newer one replaced, in the page or on the server
  sent = 0n;
  answered = 0n;
  delay = 0; // seconds from the last pose that was answered to its shape
  #sentAt = new Map<bigint, number>(); // poses without an answer
  #call: Call | null = null;
  #drop = () => {}; // ends the session of the stream
  #replacedBefore = 0;
  #missing = false; // the server had no such rig at the last attempt
  #heard = 0;
  #parts: Frame[] = [];
  #extras: Extras = {status: false, muscles: false};
  #attempt = 0;
  #abort = new AbortController();
  #backOff = new BackOff();

  constructor(private readonly streams: Streams, private readonly rig: string, private readonly vertices: number,
    private readonly triangles: Uint32Array, private readonly events: SlotEvents) {}

  get live(): boolean {
    return this.#call !== null;
  }

  // Binds the recipe and changes to it once it is ready; until then the stream of the recipe before goes on.
  start(recipe: string): void {
    this.recipe = recipe;
    this.#backOff.reset();
    void this.#start();
  }

  // From now on shows what another page or program publishes under this name, and never sends a pose. When that ends, it
  // tries again until the name is published again. `opened` is called each time.
  async follow(name: string, opened: (stream: WatchOpened) => void): Promise<void> {
    const backOff = new BackOff();
    while (true) {
      try {
        for await (const message of this.streams.server.stream(DeformService.method.watchStream, {name})) {
          if (message.opened) {
            const {source} = message.opened;
            this.recipe = this.drawn = source?.recipeForm.case === 'recipeText' ? source.recipeForm.value : 'a recipe';
            this.#parts = [];
            this.#set({kind: 'live'});
            opened(message.opened);
          }
          for (const part of message.frames) {
            this.streams.bytes += part.positions.length + part.normals.length;
            this.#take(part);
            if (part.lastChunk) backOff.reset();
          }
        }
      } catch (thrown) {
        const error = thrown instanceof CallError ? thrown : new CallError(UNKNOWN, String(thrown));
        const lasts = error.code === INVALID_ARGUMENT; // frames that this page cannot show
        this.#set({kind: lasts ? 'failed' : 'waiting', error});
        if (lasts) return;
      }
      await backOff.wait();
    }
  }

  // Ends the bind that is going on; the recipe before it stays.
  cancel(): void {
    if (this.state.kind !== 'binding') return;
    this.#attempt++;
    this.#abort.abort();
    if (this.live) {
      this.recipe = this.drawn;
      this.#set({kind: 'live'});
    } else this.#set({kind: 'failed', error: new CallError(CANCELLED, 'The bind was cancelled.')});
  }

  stop(): void {
    this.#attempt++;
    this.#abort.abort();
    this.#close();
    this.recipe = '';
    this.shape = null;
    this.session = null;
    this.#set({kind: 'off'});
  }

  // Seconds for which the server has not answered a pose.
  get silence(): number {
    return this.#call && this.answered < this.sent ? (performance.now() - this.#heard) / 1000 : 0;
  }

  send(frame: bigint, joints: Uint8Array, controls: Uint8Array): void {
    if (!this.#call) return;
    if (this.answered >= this.sent) this.#heard = performance.now();
    this.sent = frame;
    this.#sentAt.set(frame, performance.now());
    this.#call.send({frame, jointTransforms: joints, controls});
  }

  // Problems may come with the frames of later poses.
  #answer(frame: bigint): void {
    if (frame > this.answered) this.answered = frame;
    this.delay = (performance.now() - (this.#sentAt.get(frame) ?? NaN)) / 1000 || this.delay;
    for (const sent of this.#sentAt.keys()) if (sent <= frame) this.#sentAt.delete(sent);
  }

  // A stream that runs is opened again if what it brings changes.
  ask(extras: Extras): void {
    if (extras.status === this.#extras.status && extras.muscles === this.#extras.muscles) return;
    this.#extras = extras;
    this.#reopen();
  }

  // Others may follow what is shown under this name; '' = no longer.
  share(name: string): void {
    this.publish = name;
    if (!this.#reopen() && this.recipe) this.start(this.recipe);
  }

  // Opens the stream that runs again, with the session that it has.
  #reopen(): boolean {
    if (!this.#call) return false;
    const drop = this.#drop;
    this.#drop = () => {};
    this.#open(drop);
    return true;
  }

  #set(state: SlotState): void {
    this.state = state;
    this.events.state();
  }

  #close(): void {
    this.#call?.close();
    this.#call = null;
    this.#drop(); // deletes the session, so that its bound data is freed now and not when its lease ends
    this.#drop = () => {};
    this.#parts = [];
    this.#sentAt.clear();
    this.sent = this.answered;
  }

  async #start(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#abort.abort(); // cancels the previous attempt: deletes its session, which stops its bind
    const abort = this.#abort = new AbortController();
    const server = this.streams.server;
    try {
      const {session} = await server.unary(SessionService.method.createSession,
        {source: {rig: this.rig, recipeForm: {case: 'recipeText', value: this.recipe}}});
      const drop = () => void server.unary(SessionService.method.deleteSession, {name: session!.name}).catch(() => {});
      if (abort.signal.aborted) return drop();
      abort.signal.addEventListener('abort', drop);
      let now = session!;
      if (now.state === Session_State.BINDING) {
        this.#set({kind: 'binding', progress: now.progress});
        for await (const {session} of server.stream(SessionService.method.watchSession, {name: now.name}, abort.signal)) {
          now = session!;
          this.#set({kind: 'binding', progress: now.progress});
        }
      }
      if (now.state === Session_State.FAILED) throw new CallError(now.problem?.code ?? INVALID_ARGUMENT, now.problem?.message ?? 'The bind failed.');
      await this.streams.opened();
      if (attempt !== this.#attempt) return;
      abort.signal.removeEventListener('abort', drop); // from here on its stream keeps it
      this.session = now;
      this.drawn = this.recipe;
      this.#open(drop);
      this.#set({kind: 'live'});
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.#lost(error instanceof CallError ? error : new CallError(UNKNOWN, String(error)));
    }
  }

  #open(drop: () => void): void {
    this.#close();
    this.#drop = drop;
    const status = this.#extras.status && this.session!.recipe!.stages.some(({method}) => method.case === 'implicit');
    this.#replacedBefore = 0;
    this.#call = this.streams.open({
      target: {target: {case: 'session', value: this.session!.name}},
      layout: {jointFormat: JointFormat.MATRIX_3X4, space: Space.MODEL},
      output: {
        attributes: [Attribute.POSITIONS, Attribute.NORMALS, ...status ? [Attribute.VERTEX_STATUS] : []],
        encodings: [Encoding.Q16],
        normalEncodings: [Encoding.OCT8],
        compressions: [Compression.NONE],
        chunkBytes: Math.min(Math.max(this.vertices * 9, 4096), 64 << 20),
        muscles: this.#extras.muscles,
        omitChecksums: true,
      },
      mode: OrderMode.LATEST,
      window: 2,
      publish: this.publish,
    }, {
      message: (message) => {
        if (message.opened) {
          this.#backOff.reset();
          if (this.state.kind === 'waiting') this.#set({kind: 'live'});
        }
        this.#message(message);
      },
      ended: (error) => {
        this.#call = null;
        if (error?.code === ALREADY_EXISTS) return void this.#openLater(drop);
        this.#close();
        this.#lost(error ?? new CallError(CANCELLED, ''));
      },
    });
    this.events.live();
  }

  // The name is still in use: a stream of this page that has just been closed ends a little later.
  async #openLater(drop: () => void): Promise<void> {
    this.#set({kind: 'waiting', error: new CallError(ALREADY_EXISTS, `The name ${this.publish} is still in use by another stream.`)});
    const attempt = this.#attempt;
    await this.#backOff.wait();
    if (attempt !== this.#attempt || this.#call) return;
    this.#drop = () => {}; // its session stays
    this.#open(drop);
  }

  #lost(error: CallError): void {
    // A server that ends cancels its calls; what the page aborts is no CallError.
    if (error.code === CANCELLED) error = new CallError(UNAVAILABLE, 'The server ended the call.');
    // A rig that is gone may be uploaded again.
    if (!error.passing && error.code !== NOT_FOUND) {
      this.#set({kind: 'failed', error});
      return;
    }
    this.#set({kind: 'waiting', error});
    const attempt = this.#attempt;
    // A server that was started again has lost the rig: asking for the character uploads it, at first without a wait.
    const missing = error.code === NOT_FOUND;
    const first = missing && !this.#missing;
    this.#missing = missing;
    void (first ? Promise.resolve() : this.#backOff.wait()).then(async () => {
      if (missing) await this.streams.server.fetch('/view.json').catch(() => {});
      if (attempt === this.#attempt) void this.#start();
    });
  }

  // A part of a frame; the last one completes the shape.
  #take(part: Frame): void {
    this.#parts.push(part);
    this.skipped += part.skipped; // of the first part
    if (!part.lastChunk) return;
    this.shape = shapeOf(this.#parts.splice(0), this.triangles);
    this.events.shape(this.shape);
  }

  #message({frames, problems, notice}: StreamDeformResponse): void {
    const call = this.#call;
    if (!call) return;
    this.#heard = performance.now();
    for (const part of frames) {
      if (part.lastChunk) {
        this.skipped += call.replaced - this.#replacedBefore;
        this.#replacedBefore = call.replaced;
        this.#answer(part.frame);
        call.received(this.answered);
      }
      this.#take(part);
    }
    for (const {frame, problem} of problems) {
      this.#answer(frame);
      call.received(this.answered);
      this.events.problem(problem?.message ?? 'The pose could not be evaluated.');
    }
    if (notice?.kind === Notice_Kind.DRAINING) { // the server waits for its calls to end
      this.#close();
      this.#lost(new CallError(UNAVAILABLE, 'The server is shutting down.', 'DRAINING'));
    }
  }
}
