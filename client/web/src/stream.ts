// StreamDeform calls of the page: all frames arrive in one response, poses leave in small requests.

import {create, fromBinary, toBinary, type MessageInitShape} from '@bufbuild/protobuf';
import {PoseSchema, type Pose} from '@proto/pose_pb';
import {StreamDeformRequestSchema, StreamDeformResponseSchema, type StreamDeformResponse,
  type StreamOpenSchema} from '@proto/deform_service_pb';
import {BackOff, chunks, type Server} from './server.ts';
import {CallError, CANCELLED, Splitter, trailerError, UNAVAILABLE} from './wire.ts';

export interface CallEvents {
  message(message: StreamDeformResponse): void;
  // Once, unless close() was called before. No error: the call completed.
  ended(error: CallError | null): void;
}

// The one response that carries the frames of all calls. It is opened by the first call of opened(), and again, as a new
// page, when it ends.
export class Streams {
  bytes = 0;
  page = '';
  #calls = new Map<number, Call>();
  #last = 0;
  #opened: Array<() => void> = [];
  #running = false;

  // Calls `state` with null when the response opens, and with the error when it fails.
  constructor(readonly server: Server, private readonly state: (error: CallError | null) => void) {}

  // Resolves when calls can be opened.
  opened(): Promise<void> {
    if (!this.#running) {
      this.#running = true;
      void this.#run();
    }
    return this.page ? Promise.resolve() : new Promise((resolve) => this.#opened.push(resolve));
  }

  // Starts a call; the first pose goes with its opening. The page must be open.
  open(init: MessageInitShape<typeof StreamOpenSchema>, events: CallEvents): Call {
    const call = new Call(this, ++this.#last, init, events);
    this.#calls.set(call.number, call);
    return call;
  }

  forget(number: number): void {
    this.#calls.delete(number);
  }

  async #run(): Promise<never> {
    const backOff = new BackOff();
    while (true) {
      try {
        await this.#read(() => backOff.reset());
      } catch (error) {
        this.page = '';
        const reason = error instanceof CallError ? error : new CallError(UNAVAILABLE, String(error));
        for (const call of [...this.#calls.values()]) call.end(reason);
        this.state(reason);
      }
      await backOff.wait();
    }
  }

  async #read(connected: () => void): Promise<never> {
    const page = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const answer = await this.server.get(`/frames?page=${page}`, {method: 'POST'});
    this.page = page;
    connected();
    this.state(null);
    for (const resolve of this.#opened.splice(0)) resolve();
    const splitter = new Splitter(true);
    for await (const chunk of chunks(answer)) {
      this.bytes += chunk.length;
      splitter.push(chunk, ({trailer, call, data}) => {
        const receiver = this.#calls.get(call);
        if (!receiver) return; // closed by the page before these bytes came
        if (trailer) receiver.end(trailerError(data));
        else receiver.events.message(fromBinary(StreamDeformResponseSchema, data));
      });
    }
    throw new CallError(UNAVAILABLE, 'The connection ended.');
  }
}

// One call in LATEST mode. One request is on its way at a time; what is to be sent meanwhile is merged.
export class Call {
  // Poses that a newer one replaced before they were sent.
  replaced = 0;
  #pose: Pose | null = null;
  #received: bigint | null = null;
  #posting = false;
  #first = true;
  #over = false;
  #closed = false; // by the page

  constructor(private readonly streams: Streams, readonly number: number,
    private readonly init: MessageInitShape<typeof StreamOpenSchema>, readonly events: CallEvents) {}

  send(pose: MessageInitShape<typeof PoseSchema>): void {
    if (this.#pose) this.replaced++;
    this.#pose = create(PoseSchema, pose);
    void this.#post();
  }

  received(frame: bigint): void {
    this.#received = frame;
    void this.#post();
  }

  // Ends the call; its events stop at once.
  close(): void {
    if (this.#over) return;
    this.#over = this.#closed = true;
    this.streams.forget(this.number);
    if (!this.#first && !this.#posting) this.#delete(); // else after the request on its way, which may start the call
  }

  #delete(): void {
    this.streams.server.fetch(this.#path, {method: 'DELETE'}).catch(() => {});
  }

  end(error: CallError | null): void {
    if (this.#over) return;
    this.#over = true;
    this.streams.forget(this.number);
    this.events.ended(error);
  }

  get #path(): string {
    return `/poses?page=${this.streams.page}&call=${this.number}`;
  }

  async #post(): Promise<void> {
    if (this.#posting || this.#over || (!this.#pose && this.#received === null)) return;
    this.#posting = true;
    const request = create(StreamDeformRequestSchema, {
      open: this.#first ? this.init : undefined,
      poses: this.#pose ? [this.#pose] : [],
      received: this.#received ?? undefined,
    });
    this.#first = false;
    this.#pose = null;
    this.#received = null;
    try {
      const answer = await this.streams.server.fetch(this.#path, {method: 'POST', body: toBinary(StreamDeformRequestSchema, request)});
      if (answer.status === 410) setTimeout(() => this.end(new CallError(CANCELLED, 'The call ended.')), 2000); // its trailer comes first
      else if (!answer.ok) this.end(new CallError(UNAVAILABLE, `The server refused a pose: ${answer.status}.`));
    } catch (error) {
      this.end(error as CallError);
    }
    this.#posting = false;
    if (this.#closed) this.#delete();
    else void this.#post();
  }
}
