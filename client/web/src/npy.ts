// Arrays as numpy saves them.

const ALIGNMENT = 64; // of the values

// A float32 array in C order, as the bytes of an .npy file.
export function npy(shape: number[], values: Float32Array): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')}), }`;
  const size = Math.ceil((10 + text.length + 1) / ALIGNMENT) * ALIGNMENT;
  const bytes = new Uint8Array(size + values.byteLength);
  bytes.set([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, (size - 10) & 255, (size - 10) >> 8]);
  bytes.set(new TextEncoder().encode(`${text.padEnd(size - 11)}\n`), 10);
  const out = new DataView(bytes.buffer, size);
  values.forEach((value, k) => out.setFloat32(4 * k, value, true));
  return bytes;
}

// Whether a file is an array of control values, frames x controls, and none of poses.
export async function holdsControls(file: Blob): Promise<boolean> {
  return /'shape': \(\d+, \d+\)/.test(await file.slice(0, 256).text());
}
