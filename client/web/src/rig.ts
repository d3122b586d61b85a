// What the page needs of a rig: its triangles, joints and weights.

import {fromBinary} from '@bufbuild/protobuf';
import {ArrayType, RigSchema, ScaleInheritance, UpAxis, type Array as RigArray, type Control, type Skin} from '@proto/rig_pb';
import {RigService} from '@proto/rig_service_pb';
import type {Server} from './server.ts';

export interface Joint {
  name: string;
  parent: number; // -1 = a root
  compensates: boolean;
}

// Weights of vertex v: [offsets[v], offsets[v + 1]) of joints and weights, a joint once a vertex.
export interface Influences {
  offsets: Uint32Array;
  joints: Uint32Array;
  weights: Float32Array;
}

export interface CharacterRig {
  label: string;
  vertices: number;
  triangles: Uint32Array; // [T * 3]
  faceSizes: Uint8Array | Uint32Array | null; // null = all are triangles
  faceVertices: Uint32Array;
  joints: Joint[];
  restLocal: Float32Array; // [J * 12]
  controls: Control[];
  influences: Influences;
  meshes: Array<{name: string; offset: number; count: number}>;
  maps: string[];
  muscles: number;
  zUp: boolean;
  metersPerUnit: number;
}

type Values = Uint8Array | Uint16Array | Uint32Array | Float32Array;

export async function downloadRig(server: Server, name: string, progress: (part: number) => void): Promise<CharacterRig> {
  let bytes: Uint8Array | null = null;
  for await (const piece of server.stream(RigService.method.downloadRig, {name})) {
    bytes ??= new Uint8Array(Number(piece.sizeBytes));
    bytes.set(piece.data, Number(piece.offset));
    progress((Number(piece.offset) + piece.data.length) / bytes.length);
  }
  return readRig(bytes ?? new Uint8Array());
}

export function readRig(bytes: Uint8Array): CharacterRig {
  const rig = fromBinary(RigSchema, bytes);
  const meshes = [];
  let vertices = 0;
  const corners: Uint32Array[] = [];
  const sizes: Array<Values | null> = [];
  const skins: Array<{skin: Skin | undefined; count: number}> = [];
  for (const mesh of rig.meshes) {
    const count = Number(mesh.positions?.rows ?? 0n);
    const faces = Uint32Array.from(values(mesh.faceVertices));
    for (let i = 0; i < faces.length; i++) faces[i] += vertices;
    corners.push(faces);
    sizes.push(mesh.faceSizes ? values(mesh.faceSizes) : null);
    skins.push({skin: mesh.skin, count});
    meshes.push({name: mesh.name, offset: vertices, count});
    vertices += count;
  }
  const faceVertices = joined(corners);
  const faceSizes = sizes.some((size) => size) ?
    joined(sizes.map((size, m) => size ? Uint32Array.from(size) : new Uint32Array(corners[m].length / 3).fill(3))) : null;
  return {
    label: rig.label,
    vertices,
    faceSizes,
    faceVertices,
    triangles: faceSizes ? triangulated(faceSizes, faceVertices) : faceVertices,
    joints: rig.joints.map(({name, parent, scaleInheritance}) => ({
      name, parent: parent ?? -1, compensates: scaleInheritance === ScaleInheritance.COMPENSATE})),
    restLocal: values(rig.restLocal) as Float32Array,
    controls: rig.controls,
    influences: readInfluences(skins, vertices),
    meshes,
    maps: [...new Set(rig.meshes.flatMap((mesh) => mesh.maps.map((map) => map.name)))],
    muscles: rig.muscles.length,
    zUp: rig.upAxis === UpAxis.Z,
    metersPerUnit: rig.metersPerUnit,
  };
}

// The values of an array, copied where their bytes are not aligned.
function values(array: RigArray | undefined): Values {
  if (!array) return new Uint32Array();
  const bytes = array.data.slice().buffer;
  switch (array.type) {
    case ArrayType.FLOAT32: return new Float32Array(bytes);
    case ArrayType.UINT16: return new Uint16Array(bytes);
    case ArrayType.UINT32: return new Uint32Array(bytes);
    default: return new Uint8Array(bytes);
  }
}

function joined(parts: Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// Each face as a fan around its first corner.
export function triangulated(sizes: Uint8Array | Uint32Array, corners: Uint32Array): Uint32Array {
  const triangles = new Uint32Array(3 * (corners.length - 2 * sizes.length));
  let at = 0;
  let first = 0;
  for (const size of sizes) {
    for (let k = 2; k < size; k++) {
      triangles[at++] = corners[first];
      triangles[at++] = corners[first + k - 1];
      triangles[at++] = corners[first + k];
    }
    first += size;
  }
  return triangles;
}

// Pairs of vertices: each edge of a face once.
export function faceEdges(rig: CharacterRig): Uint32Array {
  const corners = rig.faceVertices;
  const keys = new Float64Array(corners.length);
  for (let f = 0, first = 0; first < corners.length; f++) {
    const size = rig.faceSizes?.[f] ?? 3;
    for (let k = 0; k < size; k++) {
      const [a, b] = [corners[first + k], corners[first + (k + 1) % size]];
      keys[first + k] = Math.min(a, b) * rig.vertices + Math.max(a, b);
    }
    first += size;
  }
  const edges = keys.sort().filter((key, k) => k === 0 || key !== keys[k - 1]);
  return Uint32Array.from({length: edges.length * 2}, (_, k) => k % 2 ? edges[k >> 1] % rig.vertices : Math.floor(edges[k >> 1] / rig.vertices));
}

function readInfluences(skins: Array<{skin: Skin | undefined; count: number}>, vertices: number): Influences {
  const offsets = new Uint32Array(vertices + 1);
  const joints: number[] = [];
  const weights: number[] = [];
  let v = 0;
  for (const {skin, count} of skins) {
    const counts = values(skin?.influenceCounts);
    const places = values(skin?.influenceJoints);
    const all = values(skin?.influenceWeights);
    let at = 0;
    for (let local = 0; local < count; local++) {
      const start = joints.length;
      let sum = 0;
      for (let end = at + (counts[local] ?? 0); at < end; at++) {
        const joint = skin!.joints[places[at]];
        sum += all[at];
        const known = joints.indexOf(joint, start);
        if (known >= 0) weights[known] += all[at];
        else {
          joints.push(joint);
          weights.push(all[at]);
        }
      }
      if (sum === 0 && skin?.fallbackJoint !== undefined) {
        joints.push(skin.joints[skin.fallbackJoint]);
        weights.push(1);
      }
      offsets[++v] = joints.length;
    }
  }
  return {offsets, joints: Uint32Array.from(joints), weights: Float32Array.from(weights)};
}

// Joints of a vertex, the strongest first.
export function influencesOf({offsets, joints, weights}: Influences, vertex: number): Array<{joint: number; weight: number}> {
  const found = [];
  for (let i = offsets[vertex]; i < offsets[vertex + 1]; i++) found.push({joint: joints[i], weight: weights[i]});
  return found.sort((a, b) => b.weight - a.weight);
}

// The weight of a joint at each vertex, 0 to 255.
export function weightBytes({offsets, joints, weights}: Influences, joint: number): Uint8Array {
  const bytes = new Uint8Array(offsets.length - 1);
  for (let v = 0; v < bytes.length; v++) {
    for (let i = offsets[v]; i < offsets[v + 1]; i++) {
      if (joints[i] === joint) bytes[v] = Math.round(255 * Math.min(1, weights[i]));
    }
  }
  return bytes;
}
