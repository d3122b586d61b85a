// Characters of glTF: a tube of any size whose chain of joints bends, and squares with colours.

import {writeFileSync} from 'node:fs';
import {crc32, deflateSync} from 'node:zlib';

// Writes a .glb with rings * segments vertices and a clip of `frames` keys, 24 a second. A joint's name tells its number.
export function writeTube(file, {rings, segments, joints, frames = 48}) {
  const positions = new Float32Array(rings * segments * 3);
  const weights = new Float32Array(rings * segments * 4);
  const influences = new Uint16Array(rings * segments * 4);
  const triangles = new Uint32Array((rings - 1) * segments * 6);
  const length = 2 / joints;
  for (let ring = 0, v = 0, t = 0; ring < rings; ring++) {
    const y = ring / (rings - 1) * 2;
    const joint = Math.min(joints - 1, Math.floor(y / length));
    const part = y / length - joint;
    for (let s = 0; s < segments; s++, v++) {
      const angle = s / segments * 2 * Math.PI;
      positions.set([0.2 * Math.cos(angle), y, 0.2 * Math.sin(angle)], v * 3);
      influences.set([joint, Math.min(joints - 1, joint + 1)], v * 4);
      weights.set(joint + 1 < joints ? [1 - part, part] : [1], v * 4);
      if (ring + 1 === rings) continue;
      const next = v - s + (s + 1) % segments;
      triangles.set([v, v + segments, next, next, v + segments, next + segments], t);
      t += 6;
    }
  }
  const binds = new Float32Array(joints * 16);
  for (let j = 0; j < joints; j++) binds.set([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -j * length, 0, 1], j * 16);
  const times = Float32Array.from({length: frames + 1}, (_, k) => k / 24);
  const turns = new Float32Array((frames + 1) * 4);
  times.forEach((_, k) => {
    const half = Math.sin(k / frames * Math.PI) / joints;
    turns.set([0, 0, Math.sin(half), Math.cos(half)], k * 4);
  });

  const parts = [];
  const gltf = {asset: {version: '2.0'}, buffers: [], bufferViews: [], accessors: []};
  let bytes = 0;
  const add = (array, componentType, type, size, more = {}) => {
    gltf.bufferViews.push({buffer: 0, byteOffset: bytes, byteLength: array.byteLength});
    gltf.accessors.push({bufferView: gltf.bufferViews.length - 1, componentType, type, count: array.length / size, ...more});
    parts.push(Buffer.from(array.buffer));
    bytes += array.byteLength; // a multiple of 4 in all of these
    return gltf.accessors.length - 1;
  };
  const [FLOAT, U16, U32] = [5126, 5123, 5125];
  const attributes = {POSITION: add(positions, FLOAT, 'VEC3', 3, {min: [-0.2, 0, -0.2], max: [0.2, 2, 0.2]}),
    JOINTS_0: add(influences, U16, 'VEC4', 4), WEIGHTS_0: add(weights, FLOAT, 'VEC4', 4)};
  gltf.meshes = [{name: 'tube', primitives: [{attributes, indices: add(triangles, U32, 'SCALAR', 1)}]}];
  gltf.nodes = [...Array(joints).keys()].map((j) => ({name: `joint_${j}`, translation: [0, j && length, 0],
    ...(j + 1 < joints && {children: [j + 1]})}));
  gltf.nodes.push({mesh: 0, skin: 0});
  gltf.skins = [{joints: [...Array(joints).keys()], inverseBindMatrices: add(binds, FLOAT, 'MAT4', 16)}];
  gltf.scenes = [{nodes: [0, joints]}];
  const input = add(times, FLOAT, 'SCALAR', 1, {min: [0], max: [times.at(-1)]});
  const output = add(turns, FLOAT, 'VEC4', 4);
  gltf.animations = [{name: 'bend', samplers: [{input, output}],
    channels: [...Array(joints).keys()].map((node) => ({sampler: 0, target: {node, path: 'rotation'}}))}];
  gltf.buffers.push({byteLength: bytes});
  writeFileSync(file, glb(gltf, Buffer.concat(parts)));
}

// Two squares beside each other, of one joint: the left one has an image of four texels, the right one a colour.
export function painted() {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const rows = [[255, 0, 0, 0, 200, 0], [0, 0, 255, 255, 255, 255]]; // red, green above blue, white
  const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0])),
    chunk('IDAT', deflateSync(Buffer.from(rows.flatMap((row) => [0, ...row])))), chunk('IEND', Buffer.alloc(0))]);
  const parts = [];
  const document = {asset: {version: '2.0'}, bufferViews: [], accessors: [], scenes: [{nodes: [0, 1]}], nodes: [{mesh: 0, skin: 0}, {name: 'root'}],
    skins: [{joints: [1]}], images: [{bufferView: 0, mimeType: 'image/png'}], textures: [{source: 0}],
    materials: [{pbrMetallicRoughness: {baseColorTexture: {index: 0}}}, {pbrMetallicRoughness: {baseColorFactor: [0.6, 0, 0.6, 1]}}]};
  const add = (bytes) => {
    document.bufferViews.push({buffer: 0, byteOffset: parts.reduce((sum, {length}) => sum + length, 0), byteLength: bytes.length});
    parts.push(bytes, Buffer.alloc((4 - bytes.length % 4) % 4));
    return document.bufferViews.length - 1;
  };
  add(png);
  const accessor = (values, componentType, type, size, more = {}) => document.accessors.push({bufferView: add(Buffer.from(values.buffer)), componentType, type,
    count: values.length / size, ...more}) - 1;
  const square = (left, material) => ({material, indices: accessor(Uint16Array.of(0, 1, 2, 0, 2, 3), 5123, 'SCALAR', 1), attributes: {
    POSITION: accessor(Float32Array.of(left, 0, 0, left + 1, 0, 0, left + 1, 1, 0, left, 1, 0), 5126, 'VEC3', 3, {min: [left, 0, 0], max: [left + 1, 1, 0]}),
    TEXCOORD_0: accessor(Float32Array.of(0, 1, 1, 1, 1, 0, 0, 0), 5126, 'VEC2', 2), // v points down
    JOINTS_0: accessor(new Uint8Array(16), 5121, 'VEC4', 4), WEIGHTS_0: accessor(Float32Array.from({length: 16}, (_, k) => k % 4 ? 0 : 1), 5126, 'VEC4', 4)}});
  document.meshes = [{primitives: [square(-1, 0), square(0, 1)]}];
  const buffer = Buffer.concat(parts);
  document.buffers = [{byteLength: buffer.length}];
  return {document, buffer, image: png};
}

// A document and its first buffer as one file.
export function glb(document, buffer) {
  const chunk = (type, data, fill) => {
    const padded = Buffer.concat([data, Buffer.alloc(-data.length & 3, fill)]);
    const head = Buffer.alloc(8);
    head.writeUInt32LE(padded.length, 0);
    head.write(type, 4, 'latin1');
    return Buffer.concat([head, padded]);
  };
  const body = Buffer.concat([chunk('JSON', Buffer.from(JSON.stringify(document)), ' '), chunk('BIN\0', buffer, 0)]);
  const head = Buffer.from('glTF\x02\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32LE(12 + body.length, 8);
  return Buffer.concat([head, body]);
}
