import {describe, expect, test, vi} from 'vitest';
import {withSideFiles} from './gltf_files.ts';

// Node has no FileReader.
vi.stubGlobal('FileReader', class {
  result = '';
  onload = () => {};
  async readAsDataURL(file: File) {
    this.result = `data:${file.type || 'application/octet-stream'};base64,${btoa(await file.text())}`;
    this.onload();
  }
});

const gltf = (document: unknown) => new File([JSON.stringify(document)], 'hero.gltf');
const side = (name: string, text: string) => new File([text], name);
const of = async (file: File) => JSON.parse(await file.text());

describe('a .gltf with its side files', () => {
  test('gets buffers and images by their names, whatever their folder', async () => {
    const file = gltf({buffers: [{uri: 'parts/a%201.bin', byteLength: 3}, {uri: 'data:;base64,QUJD', byteLength: 3}], images: [{uri: 'tex\\b.png', name: 'b'}]});
    expect(await of(await withSideFiles(file, [side('a 1.bin', 'abc'), side('b.png', 'png'), side('other.txt', 'x')]))).toEqual({
      buffers: [{uri: 'data:application/octet-stream;base64,YWJj', byteLength: 3}, {uri: 'data:;base64,QUJD', byteLength: 3}],
      images: [{uri: 'data:application/octet-stream;base64,cG5n', name: 'b'}]});
  });

  test('needs its buffers, not its images', async () => {
    const file = gltf({buffers: [{uri: 'a.bin'}, {uri: 'b.bin'}], images: [{uri: 'c.png'}]});
    await expect(withSideFiles(file, [side('a.bin', 'abc')])).rejects.toThrow('hero.gltf: drop it together with b.bin.');
    expect((await of(await withSideFiles(file, [side('a.bin', 'abc'), side('b.bin', 'abc')]))).images).toEqual([{uri: 'c.png'}]);
  });

  test('of equal names in different folders is refused', async () => {
    const file = gltf({images: [{uri: 'a/skin.png'}, {uri: 'b/skin.png'}]});
    await expect(withSideFiles(file, [side('skin.png', 'png')])).rejects.toThrow('different folders');
  });

  test('stays as it is where nothing is beside it, and where it is no JSON', async () => {
    for (const file of [gltf({buffers: [{uri: 'data:;base64,QUJD'}]}), gltf(null), new File(['{'], 'hero.gltf')]) expect(await withSideFiles(file, [])).toBe(file);
  });
});
