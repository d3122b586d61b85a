import {create, toBinary} from '@bufbuild/protobuf';
import {expect, test} from 'vitest';
import {ArrayType, RigSchema} from '@proto/rig_pb';
import {faceEdges, influencesOf, readRig, weightBytes} from './rig.ts';

const floats = (columns: number, ...values: number[]) => ({type: ArrayType.FLOAT32, columns, rows: BigInt(values.length / columns),
  data: new Uint8Array(Float32Array.from(values).buffer)});
const numbers = (...values: number[]) => ({type: ArrayType.UINT8, columns: 1, rows: BigInt(values.length), data: Uint8Array.from(values)});

// A square of one face, and a triangle with two sides without weights of its own.
const rig = readRig(toBinary(RigSchema, create(RigSchema, {
  joints: [{name: 'a'}, {name: 'b', parent: 0}],
  restLocal: floats(12, ...new Array<number>(24).fill(0)),
  meshes: [{
    name: 'square', positions: floats(3, ...new Array<number>(12).fill(0)), faceSizes: numbers(4), faceVertices: numbers(0, 1, 2, 3),
    skin: {joints: [1, 0], influenceCounts: numbers(2, 1, 1, 2), influenceJoints: numbers(0, 1, 0, 1, 0, 0), influenceWeights: floats(1, 0.25, 0.75, 1, 1, 0.5, 0.5)},
  }, {
    name: 'triangle', positions: floats(3, ...new Array<number>(9).fill(0)), faceVertices: numbers(0, 1, 2, 2, 1, 0),
    skin: {joints: [1], influenceCounts: numbers(0, 0, 0), fallbackJoint: 0},
  }],
})));

test('meshes follow each other, faces become triangles', () => {
  expect(rig.vertices).toBe(7);
  expect([...rig.triangles]).toEqual([0, 1, 2, 0, 2, 3, 4, 5, 6, 6, 5, 4]);
  expect(rig.meshes.map(({offset, count}) => [offset, count])).toEqual([[0, 4], [4, 3]]);
});

test('edges are those of the faces, each once', () => {
  expect([...faceEdges(rig)]).toEqual([0, 1, 0, 3, 1, 2, 2, 3, 4, 5, 4, 6, 5, 6]);
});

test('influences are the strongest first, a joint once', () => {
  expect(influencesOf(rig.influences, 0)).toEqual([{joint: 0, weight: 0.75}, {joint: 1, weight: 0.25}]);
  expect(influencesOf(rig.influences, 3)).toEqual([{joint: 1, weight: 1}]);
  expect(influencesOf(rig.influences, 5)).toEqual([{joint: 1, weight: 1}]);
});

test('weights of a joint are bytes', () => {
  expect([...weightBytes(rig.influences, 0)]).toEqual([191, 0, 255, 0, 0, 0, 0]);
  expect([...weightBytes(rig.influences, 1)]).toEqual([64, 255, 0, 255, 255, 255, 255]);
});
