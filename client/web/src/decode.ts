// Encodings of frame.proto, decoded on the processor where the page needs numbers. The shader does the same in skin.ts.

import type {Shape} from './shape.ts';

// float32 [V * 3] of ENCODING_Q16. Products are exact, so that one rounding makes each sum a float32 sum.
export function decodePositions({positions, origin, step}: Pick<Shape, 'positions' | 'origin' | 'step'>): Float32Array {
  const out = new Float32Array(positions.length);
  for (let i = 0; i < positions.length; i++) out[i] = origin[i % 3] + step[i % 3] * positions[i];
  return out;
}

// The vertex that a ray meets first, as the nearest corner of the first triangle; null if it meets none.
export function pickVertex(positions: Float32Array, triangles: Uint32Array, origin: number[], direction: number[]): number | null {
  const [ox, oy, oz] = origin;
  const [dx, dy, dz] = direction;
  let nearest = Infinity;
  let vertex: number | null = null;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = triangles[t] * 3;
    const b = triangles[t + 1] * 3;
    const c = triangles[t + 2] * 3;
    const [e1x, e1y, e1z] = [positions[b] - positions[a], positions[b + 1] - positions[a + 1], positions[b + 2] - positions[a + 2]];
    const [e2x, e2y, e2z] = [positions[c] - positions[a], positions[c + 1] - positions[a + 1], positions[c + 2] - positions[a + 2]];
    const [px, py, pz] = [dy * e2z - dz * e2y, dz * e2x - dx * e2z, dx * e2y - dy * e2x];
    const determinant = e1x * px + e1y * py + e1z * pz;
    if (determinant === 0) continue;
    const [sx, sy, sz] = [ox - positions[a], oy - positions[a + 1], oz - positions[a + 2]];
    const u = (sx * px + sy * py + sz * pz) / determinant;
    if (u < 0 || u > 1) continue;
    const [qx, qy, qz] = [sy * e1z - sz * e1y, sz * e1x - sx * e1z, sx * e1y - sy * e1x];
    const v = (dx * qx + dy * qy + dz * qz) / determinant;
    if (v < 0 || u + v > 1) continue;
    const distance = (e2x * qx + e2y * qy + e2z * qz) / determinant;
    if (distance <= 0 || distance >= nearest) continue;
    nearest = distance;
    const w = 1 - u - v;
    vertex = triangles[w >= u && w >= v ? t : u >= v ? t + 1 : t + 2];
  }
  return vertex;
}

// Largest and root mean square distance between two shapes.
export function distances(a: Float32Array, b: Float32Array): {largest: number; rms: number} {
  let largest = 0;
  let sum = 0;
  for (let i = 0; i < a.length; i += 3) {
    const square = (a[i] - b[i]) ** 2 + (a[i + 1] - b[i + 1]) ** 2 + (a[i + 2] - b[i + 2]) ** 2;
    if (square > largest) largest = square;
    sum += square;
  }
  return {largest: Math.sqrt(largest), rms: Math.sqrt(sum / Math.max(1, a.length / 3))};
}

// The least of 1, 2, 5 times a power of ten that is not below `value`.
export function roundUp(value: number): number {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return Number(([1, 2, 5, 10].find((digit) => digit * power >= value * (1 - 1e-9))! * power).toPrecision(1));
}
