import {create, fromBinary, toBinary} from '@bufbuild/protobuf';
import {StreamDeformRequestSchema, StreamDeformResponseSchema, type StreamDeformRequest} from '@proto/deform_service_pb';
import {beforeEach, expect, test} from 'vitest';
import type {Server} from './server.ts';
import {Call, Streams} from './stream.ts';
import {UNAVAILABLE, type CallError} from './wire.ts';

// Requests as they leave, answered when the test says so.
let posts: Array<{path: string; request: StreamDeformRequest; answer: (status: number) => void}>;
let deleted: string[];
let pages: Array<{id: string; body: ReadableStreamDefaultController<Uint8Array>}>;
let states: Array<CallError | null>;
let streams: Streams;

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));

beforeEach(async () => {
  [posts, deleted, pages, states] = [[], [], [], []];
  const server = {
    get: async (path: string) => new Response(new ReadableStream({start: (body) => void pages.push({id: path, body})})),
    fetch: (path: string, {method, body}: RequestInit) => {
      if (method === 'DELETE') deleted.push(path);
      return new Promise((resolve) => method === 'DELETE' ? resolve(new Response(null, {status: 204})) :
        posts.push({path, request: fromBinary(StreamDeformRequestSchema, body as Uint8Array), answer: (status) => resolve(new Response(null, {status}))}));
    },
  };
  streams = new Streams(server as unknown as Server, (error) => states.push(error));
  await streams.opened();
});

function open(): {call: Call; problems: string[]; ends: Array<CallError | null>} {
  const problems: string[] = [];
  const ends: Array<CallError | null> = [];
  const call = streams.open({window: 2}, {
    message: (message) => problems.push(...message.problems.map(({problem}) => problem!.message)),
    ended: (error) => ends.push(error),
  });
  return {call, problems, ends};
}

function arrive(call: number, flags: number, data: Uint8Array): void {
  const piece = new Uint8Array(9 + data.length);
  const view = new DataView(piece.buffer);
  view.setUint8(0, flags);
  view.setUint32(1, data.length);
  view.setUint32(5, call);
  piece.set(data, 9);
  pages.at(-1)!.body.enqueue(piece);
}

const problem = (message: string) => toBinary(StreamDeformResponseSchema, create(StreamDeformResponseSchema, {problems: [{problem: {message}}]}));

test('one request is on its way; what comes meanwhile is merged into the next', async () => {
  const {call} = open();
  call.send({frame: 1n});
  for (const frame of [2n, 3n, 4n]) call.send({frame});
  call.received(1n);
  call.received(2n);
  await settle();
  expect(posts.length).toBe(1);
  expect(posts[0].request.open?.window).toBe(2);
  posts[0].answer(204);
  await settle();
  expect(posts.length).toBe(2);
  expect(posts[1].request.open).toBeUndefined();
  expect(posts[1].request.poses.map(({frame}) => frame)).toEqual([4n]);
  expect(posts[1].request.received).toBe(2n);
  expect(call.replaced).toBe(2);
  posts[1].answer(204);
  await settle();
  expect(posts.length).toBe(2);
});

test('pieces reach the call that they name, until its trailer', async () => {
  const [a, b] = [open(), open()];
  arrive(b.call.number, 0, problem('for b'));
  arrive(99, 0, problem('for an unknown call'));
  arrive(a.call.number, 0, problem('for a'));
  arrive(a.call.number, 0x80, new TextEncoder().encode('grpc-status: 5\r\ngrpc-message: gone'));
  arrive(a.call.number, 0, problem('too late'));
  await settle();
  expect([a.problems, b.problems]).toEqual([['for a'], ['for b']]);
  expect(a.ends.map((error) => error?.message)).toEqual(['gone']);
  expect(b.ends).toEqual([]);
});

test('a call that is closed is deleted and hears nothing more', async () => {
  const {call, problems, ends} = open();
  call.send({frame: 1n});
  call.close();
  arrive(call.number, 0, problem('late'));
  await settle();
  expect([deleted.length, problems, ends]).toEqual([0, [], []]); // it could overtake the request that starts the call
  posts[0].answer(204);
  await settle();
  expect([deleted.length, posts.length]).toEqual([1, 1]);
});

test('a page that breaks ends its calls, and a new page is opened', async () => {
  const {ends} = open();
  pages[0].body.close();
  await settle();
  expect(ends.map((error) => error?.code)).toEqual([UNAVAILABLE]);
  await streams.opened();
  expect(pages.length).toBe(2);
  expect(pages[1].id).not.toBe(pages[0].id);
  expect(states.map((error) => error?.code ?? null)).toEqual([null, UNAVAILABLE, null]);
});

test('a pose that is refused ends the call', async () => {
  const {call, ends} = open();
  call.send({frame: 1n});
  await settle();
  posts[0].answer(409);
  await settle();
  expect(ends.map((error) => error?.code)).toEqual([UNAVAILABLE]);
});
