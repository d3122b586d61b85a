import {expect, test} from 'vitest';
import {create} from '@bufbuild/protobuf';
import {Compression, Encoding, FrameSchema, type Frame} from '@proto/frame_pb';
import {decodePositions} from './decode.ts';
import {octahedral, shapeOf} from './shape.ts';

const bytes = (values: number[], at = 1) => { // not aligned, as in a message
  const all = new Uint8Array(at + values.length * 4);
  all.set(new Uint8Array(Float32Array.from(values).buffer), at);
  return all.subarray(at);
};
const bounds = {minimum: [0, 0, 0], maximum: [2, 1, 0]};
const corners = [0, 0, 0, 2, 0, 0, 0, 1, 0];

test('a float32 frame in parts becomes a shape with the normals of its triangles', () => {
  const parts: Frame[] = [
    create(FrameSchema, {frame: 7n, encoding: Encoding.FLOAT32, bounds, positions: bytes(corners.slice(0, 3))}),
    create(FrameSchema, {frame: 7n, encoding: Encoding.FLOAT32, lastChunk: true, positions: bytes(corners.slice(3))})];
  const shape = shapeOf(parts, Uint32Array.of(0, 1, 2));
  expect(shape.frame).toBe(7n);
  decodePositions(shape).forEach((x, i) => expect(x).toBeCloseTo(corners[i], 4));
  expect([...shape.normals]).toEqual([0, 0, 0, 0, 0, 0]); // along z
});

test('octahedral normals have the signs of frame.proto', () => {
  expect([...octahedral(Float32Array.of(3, 0, 0, 0, -2, 0, 0, 0, -1, 1, 1, -2))]).toEqual([127, 0, 0, -127, 127, 127, 95, 95]);
});

test('a compressed frame is refused', () => {
  const part = create(FrameSchema, {encoding: Encoding.Q16, compression: Compression.ZSTD, bounds, lastChunk: true});
  expect(() => shapeOf([part], new Uint32Array())).toThrow(/compressed/);
});
