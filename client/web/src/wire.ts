// Framing between the page and its server: gRPC-Web messages, the page's own frames, trailers.

import {BinaryReader} from '@bufbuild/protobuf/wire';

export const OK = 0;
export const CANCELLED = 1;
export const UNKNOWN = 2;
export const INVALID_ARGUMENT = 3;
export const NOT_FOUND = 5;
export const ALREADY_EXISTS = 6;
export const PERMISSION_DENIED = 7;
export const UNAVAILABLE = 14;
export const UNAUTHENTICATED = 16;
const TRAILER = 0x80;

// How a call ended; `reason` is ErrorInfo.reason.
export class CallError extends Error {
  constructor(readonly code: number, message: string, readonly reason = '') {
    super(message);
  }

  // True where the call may succeed if it is made again later.
  get passing(): boolean {
    return this.code === UNAVAILABLE || ['IDLE', 'WINDOW_STALLED', 'TOO_OLD', 'DRAINING', 'NOT_HERE'].includes(this.reason);
  }
}

export interface Piece {
  trailer: boolean;
  call: number; // 0 where pieces have no call number
  data: Uint8Array;
}

// Splits a body into its pieces: u8 flags, u32 length, with `numbered` u32 call, then the bytes; numbers are big-endian.
export class Splitter {
  #header: Uint8Array;
  #headerBytes = 0;
  #data: Uint8Array | null = null;
  #dataBytes = 0;

  constructor(numbered: boolean) {
    this.#header = new Uint8Array(numbered ? 9 : 5);
  }

  // Calls `sink` for each piece that `chunk` completes; its bytes are the sink's to keep.
  push(chunk: Uint8Array, sink: (piece: Piece) => void): void {
    let at = 0;
    while (true) {
      if (!this.#data) {
        const part = chunk.subarray(at, at + this.#header.length - this.#headerBytes);
        this.#header.set(part, this.#headerBytes);
        this.#headerBytes += part.length;
        at += part.length;
        if (this.#headerBytes < this.#header.length) return;
        this.#data = new Uint8Array(new DataView(this.#header.buffer).getUint32(1));
        this.#dataBytes = 0;
      }
      const part = chunk.subarray(at, at + this.#data.length - this.#dataBytes);
      this.#data.set(part, this.#dataBytes);
      this.#dataBytes += part.length;
      at += part.length;
      if (this.#dataBytes < this.#data.length) return;
      const call = this.#header.length === 9 ? new DataView(this.#header.buffer).getUint32(5) : 0;
      const piece = {trailer: (this.#header[0] & TRAILER) !== 0, call, data: this.#data};
      this.#data = null;
      this.#headerBytes = 0;
      sink(piece);
    }
  }
}

// One message as the body of a gRPC-Web request.
export function envelope(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const body = new Uint8Array(5 + message.length);
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, 5);
  return body;
}

// The error that a trailer states, or null if its status is OK.
export function trailerError(data: Uint8Array): CallError | null {
  const values = new Map<string, string>();
  for (const line of new TextDecoder().decode(data).split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) values.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const code = Number(values.get('grpc-status') ?? UNKNOWN);
  if (code === OK) return null;
  return new CallError(code, percentDecoded(values.get('grpc-message') ?? ''), reasonOf(values.get('grpc-status-details-bin') ?? ''));
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Calls `field` for each field of a message whose fields are all length-delimited; others are skipped.
function eachField(bytes: Uint8Array, field: (number: number, value: Uint8Array) => unknown): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === 2) field(number, reader.bytes());
    else reader.skip(type);
  }
}

// The reason of the ErrorInfo in a google.rpc.Status; empty where there is none.
function reasonOf(base64: string): string {
  let reason = '';
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  try {
    const status = Uint8Array.from(atob(base64.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
    eachField(status, (number, detail) => {
      let type = '';
      if (number === 3) eachField(detail, (part, value) => {
        if (part === 1) type = text(value);
        if (part === 2 && type.endsWith('/google.rpc.ErrorInfo')) eachField(value, (inner, bytes) => inner === 1 && (reason = text(bytes)));
      });
    });
  } catch {
    // Details are an addition: the status and its message are complete without them.
  }
  return reason;
}
