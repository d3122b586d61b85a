// A frame as the page draws it.

import {Attribute, Compression, Encoding, type Frame, type PosedMuscle} from '@proto/frame_pb';
import {CallError, INVALID_ARGUMENT} from './wire.ts';

// A complete frame as it came: ENCODING_Q16 and ENCODING_OCT8.
export interface Shape {
  frame: bigint;
  positions: Uint16Array; // [V * 3]
  normals: Int8Array; // [V * 2]
  origin: number[];
  step: number[];
  minimum: number[];
  maximum: number[];
  evaluateSeconds: number;
  status: Uint8Array | null; // [V], where the recipe writes it and it was asked for
  muscles: PosedMuscle[];
}

// The shape of a frame in parts. Encodings that the page does not draw become ENCODING_Q16 and ENCODING_OCT8; normals
// that are absent are those of the triangles.
export function shapeOf(parts: Frame[], triangles: Uint32Array): Shape {
  const [first] = parts;
  const last = parts[parts.length - 1];
  if (first.compression === Compression.ZSTD) throw new CallError(INVALID_ARGUMENT, 'The stream is compressed (zstd), which this page cannot show.');
  const {minimum, maximum} = first.bounds!;
  const shape: Shape = {
    frame: last.frame, positions: new Uint16Array(), normals: new Int8Array(), minimum, maximum,
    origin: first.quantisation?.origin ?? minimum,
    step: first.quantisation?.step ?? minimum.map((low, c) => Math.max(maximum[c] - low, 1e-30) / 65535),
    evaluateSeconds: Number(last.timing?.evaluateNs ?? 0n) / 1e9,
    status: statusOf(parts),
    muscles: last.muscles,
  };
  const positions = parts.map((part) => part.positions);
  const normals = parts.map((part) => part.normals);
  let floats: Float32Array | null = null;
  if (first.encoding === Encoding.Q16) {
    shape.positions = new Uint16Array(...bytesOf(positions, 2));
  } else {
    floats = new Float32Array(...bytesOf(positions, 4));
    shape.positions = Uint16Array.from(floats, (x, i) => Math.round((x - shape.origin[i % 3]) / shape.step[i % 3]));
  }
  if (first.normalEncoding === Encoding.OCT8) {
    shape.normals = new Int8Array(...bytesOf(normals, 1));
  } else if (first.normalEncoding === Encoding.OCT16) {
    shape.normals = Int8Array.from(new Int16Array(...bytesOf(normals, 2)), (n) => Math.round(n * 127 / 32767));
  } else if (first.normalEncoding === Encoding.FLOAT32) {
    shape.normals = octahedral(new Float32Array(...bytesOf(normals, 4)));
  } else {
    floats ??= Float32Array.from(shape.positions, (q, i) => shape.origin[i % 3] + shape.step[i % 3] * q);
    shape.normals = octahedral(faceNormals(floats, triangles));
  }
  return shape;
}

function statusOf(parts: Frame[]): Uint8Array | null {
  const pieces = parts.flatMap(({channels}) => channels.filter(({attribute}) => attribute === Attribute.VERTEX_STATUS).map(({data}) => data));
  return pieces.length ? new Uint8Array(...bytesOf(pieces, 1)) : null;
}

// Sums over the triangles of each vertex, by their areas.
function faceNormals(positions: Float32Array, triangles: Uint32Array): Float32Array {
  const sums = new Float32Array(positions.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t] * 3, triangles[t + 1] * 3, triangles[t + 2] * 3];
    const [ux, uy, uz] = [positions[b] - positions[a], positions[b + 1] - positions[a + 1], positions[b + 2] - positions[a + 2]];
    const [vx, vy, vz] = [positions[c] - positions[a], positions[c + 1] - positions[a + 1], positions[c + 2] - positions[a + 2]];
    const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const at of [a, b, c]) {
      sums[at] += x;
      sums[at + 1] += y;
      sums[at + 2] += z;
    }
  }
  return sums;
}

// ENCODING_OCT8 of vectors of any length.
export function octahedral(vectors: Float32Array): Int8Array {
  const out = new Int8Array(vectors.length / 3 * 2);
  for (let v = 0; v < vectors.length / 3; v++) {
    const [x, y, z] = [vectors[v * 3], vectors[v * 3 + 1], vectors[v * 3 + 2]];
    const sum = Math.abs(x) + Math.abs(y) + Math.abs(z) || 1;
    const [u, w] = [x / sum, y / sum];
    const fold = (a: number, b: number) => z < 0 ? (1 - Math.abs(b)) * (a < 0 ? -1 : 1) : a;
    out[v * 2] = Math.round(fold(u, w) * 127);
    out[v * 2 + 1] = Math.round(fold(w, u) * 127);
  }
  return out;
}

// The bytes of all parts as arguments of a typed array, copied only if there are several or they are not aligned.
export function bytesOf(parts: Uint8Array[], alignment: number): [ArrayBuffer, number, number] {
  let [all] = parts;
  if (parts.length > 1 || all.byteOffset % alignment) {
    all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
  }
  return [all.buffer as ArrayBuffer, all.byteOffset, all.length / alignment];
}
