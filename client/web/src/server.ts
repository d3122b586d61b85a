// Requests to the server that the page comes from.

import {create, fromBinary, toBinary, type DescMessage, type DescMethodClientStreaming, type DescMethodServerStreaming, type DescMethodUnary,
  type MessageInitShape, type MessageShape} from '@bufbuild/protobuf';
import {CallError, envelope, Splitter, trailerError, PERMISSION_DENIED, UNAUTHENTICATED, UNAVAILABLE} from './wire.ts';

export class Server {
  constructor(public token: string) {}

  // The answer, whatever its status; a network error is thrown as UNAVAILABLE.
  async fetch(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (this.token) headers.set('authorization', `Bearer ${this.token}`);
    try {
      return await fetch(path, {cache: 'no-store', ...options, headers});
    } catch (error) {
      if ((error as Error).name === 'AbortError') throw error;
      throw new CallError(UNAVAILABLE, 'The server does not answer.');
    }
  }

  // Like fetch; a status other than 200 to 299 is thrown.
  async get(path: string, options: RequestInit = {}): Promise<Response> {
    const answer = await this.fetch(path, options);
    if (answer.ok) return answer;
    const text = (await answer.text().catch(() => '')).slice(0, 200).trim();
    if (answer.status === 401) throw new CallError(UNAUTHENTICATED, `The server does not accept the token of this page: ${text}.`);
    if (answer.status === 403) throw new CallError(PERMISSION_DENIED, `The server refuses this page: ${text}.`);
    throw new CallError(UNAVAILABLE, `The server answered ${answer.status}${text ? `: ${text}` : ''}.`);
  }

  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>, request: MessageInitShape<I>, signal?: AbortSignal): Promise<MessageShape<O>> {
    return this.#last(this.#call(method, [request], signal));
  }

  // A call with several requests; all of them leave in one body.
  async upload<I extends DescMessage, O extends DescMessage>(
    method: DescMethodClientStreaming<I, O>, requests: Array<MessageInitShape<I>>): Promise<MessageShape<O>> {
    return this.#last(this.#call(method, requests));
  }

  async #last<T>(answers: AsyncGenerator<T>): Promise<T> {
    let last: T | undefined;
    for await (const answer of answers) last = answer;
    if (last) return last;
    throw new CallError(UNAVAILABLE, 'The server sent no answer.');
  }

  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>, request: MessageInitShape<I>, signal?: AbortSignal): AsyncGenerator<MessageShape<O>> {
    return this.#call(method, [request], signal);
  }

  async *#call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O> | DescMethodServerStreaming<I, O> | DescMethodClientStreaming<I, O>, requests: Array<MessageInitShape<I>>,
    signal?: AbortSignal): AsyncGenerator<MessageShape<O>> {
    const body = new Blob(requests.map((request) => envelope(toBinary(method.input, create(method.input, request)))));
    const answer = await this.get(`/${method.parent.typeName}/${method.name}`,
      {method: 'POST', body, signal, headers: {'content-type': 'application/grpc-web+proto'}});
    const messages: Uint8Array[] = [];
    const splitter = new Splitter(false);
    let ended = false;
    for await (const chunk of chunks(answer)) {
      let error: CallError | null = null;
      splitter.push(chunk, ({trailer, data}) => {
        if (!trailer) messages.push(data);
        else {
          ended = true;
          error = trailerError(data);
        }
      });
      for (const message of messages.splice(0)) yield fromBinary(method.output, message);
      if (error) throw error;
    }
    if (!ended) throw new CallError(UNAVAILABLE, 'The connection ended.');
  }
}

// The chunks of a body; a connection that breaks is thrown as UNAVAILABLE.
export async function* chunks(answer: Response): AsyncGenerator<Uint8Array> {
  const reader = answer.body!.getReader();
  try {
    while (true) {
      const {done, value} = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new CallError(UNAVAILABLE, 'The connection broke.');
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Waits 0.25 s, then twice as long each time up to 2 s; `reset` starts again.
export class BackOff {
  #seconds = 0.25;

  reset(): void {
    this.#seconds = 0.25;
  }

  async wait(): Promise<void> {
    const seconds = this.#seconds;
    this.#seconds = Math.min(2, seconds * 2);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}
