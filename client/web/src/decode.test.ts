import {describe, expect, test} from 'vitest';
import {decodePositions, distances, pickVertex, roundUp} from './decode.ts';

// What frame.proto says of ENCODING_Q16: float32(origin + float32(step * q)).
const defined = (origin: number, step: number, q: number) => Math.fround(origin + Math.fround(step * q));

describe('decodePositions', () => {
  test('has the bits of the definition', () => {
    let state = 1;
    const next = () => (state = state * 48271 % 2147483647);
    for (let round = 0; round < 200; round++) {
      // Steps have 8 significant bits, so that products are exact.
      const step = [0, 1, 2].map(() => (128 + next() % 128) * 2 ** (next() % 20 - 24));
      const origin = [0, 1, 2].map(() => Math.fround((next() / 2147483647 - 0.5) * 10 ** (next() % 6 - 2)));
      const positions = Uint16Array.from({length: 99}, () => next() % 65536);
      const expected = Float32Array.from(positions, (q, i) => defined(origin[i % 3], step[i % 3], q));
      expect(new Uint32Array(decodePositions({positions, origin, step}).buffer)).toEqual(new Uint32Array(expected.buffer));
    }
  });
});

describe('pickVertex', () => {
  const positions = Float32Array.from([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 1, 0, -1, 0, 1, -1]);
  const triangles = Uint32Array.from([3, 4, 5, 0, 1, 2]);
  test('finds the nearest corner of the nearest triangle', () => {
    expect(pickVertex(positions, triangles, [0.8, 0.1, 5], [0, 0, -1])).toBe(1);
    expect(pickVertex(positions, triangles, [0.1, 0.7, 5], [0, 0, -1])).toBe(2);
    expect(pickVertex(positions, triangles, [0.1, 0.1, -5], [0, 0, 1])).toBe(3);
  });
  test('finds nothing beside and behind', () => {
    expect(pickVertex(positions, triangles, [0.8, 0.8, 5], [0, 0, -1])).toBeNull();
    expect(pickVertex(positions, triangles, [0.1, 0.1, 5], [0, 0, 1])).toBeNull();
  });
});

test('distances are those between vertices of equal number', () => {
  expect(distances(Float32Array.from([0, 0, 0, 1, 1, 1]), Float32Array.from([3, 4, 0, 1, 1, 1]))).toEqual({largest: 5, rms: Math.sqrt(12.5)});
});

test.each([[0.03, 0.05], [0.05, 0.05], [7, 10], [0.00012, 0.0002], [0, 0], [NaN, 0]])('roundUp(%d) is %d', (value, rounded) => {
  expect(roundUp(value)).toBe(rounded);
});
