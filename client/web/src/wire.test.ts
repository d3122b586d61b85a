import {describe, expect, test} from 'vitest';
import {envelope, Splitter, trailerError, UNAVAILABLE, CallError, type Piece} from './wire.ts';

const bytes = (...values: number[]) => Uint8Array.from(values);
const ascii = (text: string) => new TextEncoder().encode(text);

function split(body: Uint8Array, size: number, numbered: boolean): Piece[] {
  const pieces: Piece[] = [];
  const splitter = new Splitter(numbered);
  for (let at = 0; at < body.length; at += size) splitter.push(body.subarray(at, at + size), (piece) => pieces.push(piece));
  return pieces;
}

describe('Splitter', () => {
  const body = bytes(0, 0, 0, 0, 3, 0, 0, 1, 2, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0x80, 0, 0, 0, 1, 0, 0, 1, 2, 6);
  test.each([1, 2, 5, 8, 100])('gives the pieces of chunks of %i bytes', (size) => {
    expect(split(body, size, true)).toEqual([
      {trailer: false, call: 258, data: bytes(7, 8, 9)},
      {trailer: false, call: 5, data: bytes()},
      {trailer: true, call: 258, data: bytes(6)},
    ]);
  });

  test('keeps a piece that is not complete', () => {
    expect(split(body.subarray(0, 11), 4, true)).toEqual([]);
  });

  test('reads what envelope writes', () => {
    const message = Uint8Array.from({length: 70000}, (_, k) => k % 251);
    expect(split(envelope(message), 4096, false)).toEqual([{trailer: false, call: 0, data: message}]);
  });
});

describe('trailerError', () => {
  test('is null for OK', () => expect(trailerError(ascii('grpc-status: 0\r\n'))).toBeNull());

  test('has code, message and reason', () => {
    // What a server answers to CreateSession with the recipe ddm(radius=7).
    const details = 'CAMSNnNvdXJjZS5yZWNpcGUuc3RhZ2VzWzBdLmRkbS5yYWRpdXM6IGdvdCA3LCBuZWVkIDAgdG8gMRpCCih0eXBlLmdvb2dsZWFwaXMuY29tL2' +
      'dvb2dsZS5ycGMuRXJyb3JJbmZvEhYKDUlOVkFMSURfRklFTEQSBXNpbmV3GmcKKXR5cGUuZ29vZ2xlYXBpcy5jb20vZ29vZ2xlLnJwYy5CYWRS' +
      'ZXF1ZXN0EjoKOAoic291cmNlLnJlY2lwZS5zdGFnZXNbMF0uZGRtLnJhZGl1cxISZ290IDcsIG5lZWQgMCB0byAx';
    const error = trailerError(ascii(`grpc-status: 3\r\ngrpc-message: got 7%2C 100%25\r\ngrpc-status-details-bin: ${details}`))!;
    expect([error.code, error.message, error.reason]).toEqual([3, 'got 7, 100%', 'INVALID_FIELD']);
  });

  test('survives a message and details that cannot be read', () => {
    const error = trailerError(ascii('grpc-status: 13\r\ngrpc-message: %zz\r\ngrpc-status-details-bin: !!'))!;
    expect([error.code, error.message, error.reason]).toEqual([13, '%zz', '']);
  });

  test('without a status is an error', () => expect(trailerError(ascii(''))!.code).toBe(2));
});

test('calls pass again after an outage, not after a refusal', () => {
  expect(new CallError(UNAVAILABLE, '').passing).toBe(true);
  expect(new CallError(8, '', 'WINDOW_STALLED').passing).toBe(true);
  expect(new CallError(3, '', 'INVALID_FIELD').passing).toBe(false);
});
