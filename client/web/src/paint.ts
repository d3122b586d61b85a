// The colours of the character's file: base colours at the vertices, and images.

import {DataArrayTexture, LinearFilter, LinearMipmapLinearFilter, RepeatWrapping, SRGBColorSpace} from 'three';
import type {Server} from './server.ts';

export interface Paint {
  colours: Uint8Array; // [V * 4] sRGB and 255
  uvs: Float32Array; // [V * 3] u, v (downwards), and the image or -1
  images: DataArrayTexture | null;
}

// Downloads and decodes what view.json announces: the types of the images.
export async function loadPaint(server: Server, {path, images}: {path: string; images: string[]}): Promise<Paint> {
  const bytes = async (part: string) => (await server.get(`${path}/${part}`)).arrayBuffer();
  return {
    colours: new Uint8Array(await bytes('colours')),
    uvs: new Float32Array(await bytes('uvs')),
    images: images.length ? await texture(await Promise.all(images.map(async (type, k) => new Blob([await bytes(`images/${k}`)], {type})))) : null,
  };
}

// All images as layers of one size; one that the browser cannot decode is white.
async function texture(blobs: Blob[]): Promise<DataArrayTexture> {
  const size = blobs.length > 4 ? 512 : 1024;
  const layers = new Uint8Array(size * size * 4 * blobs.length).fill(255);
  const context = new OffscreenCanvas(size, size).getContext('2d', {willReadFrequently: true})!;
  for (const [k, blob] of blobs.entries()) {
    const image = await createImageBitmap(blob, {resizeWidth: size, resizeHeight: size, resizeQuality: 'high'}).catch(() => null);
    if (!image) continue;
    context.clearRect(0, 0, size, size);
    context.drawImage(image, 0, 0);
    layers.set(context.getImageData(0, 0, size, size).data, k * size * size * 4);
    image.close();
  }
  const made = new DataArrayTexture(layers, size, size, blobs.length);
  Object.assign(made, {colorSpace: SRGBColorSpace, generateMipmaps: true, minFilter: LinearMipmapLinearFilter, magFilter: LinearFilter,
    wrapS: RepeatWrapping, wrapT: RepeatWrapping, anisotropy: 8, needsUpdate: true});
  return made;
}
