import {expect, test} from 'vitest';
import {holdsControls, npy} from './npy.ts';

test('an array has the header of numpy.save and its bytes', () => {
  const values = Float32Array.of(1.5, -0, 3e-42, Infinity, 5, 6);
  const bytes = npy([1, 2, 3], values.subarray(0, 6));
  // What numpy 1.24 writes for this shape.
  expect(String.fromCharCode(...bytes.subarray(0, 128))).toBe("\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }".padEnd(127) + '\n');
  expect(bytes.subarray(128)).toEqual(new Uint8Array(values.buffer));
});

test('tells control values and poses apart', async () => {
  expect(await holdsControls(new Blob([npy([3, 2], new Float32Array(6))]))).toBe(true);
  expect(await holdsControls(new Blob([npy([1, 2, 12], new Float32Array(24))]))).toBe(false);
  expect(await holdsControls(new Blob(['no array']))).toBe(false);
});
