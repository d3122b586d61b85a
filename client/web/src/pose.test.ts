import {Matrix4, Quaternion, Vector3} from 'three';
import {describe, expect, test} from 'vitest';
import {Edits, matrix4, poseJson, toModel} from './pose.ts';
import type {CharacterRig, Joint} from './rig.ts';

const joint = (parent: number, compensates = false): Joint => ({name: `j${parent + 1}`, parent, compensates});
const rows = (matrix: Matrix4) => matrix.clone().transpose().toArray().slice(0, 12);
const quarter = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), Math.PI / 2);
const chain = [joint(-1), joint(0), joint(1)];
const local = Float32Array.from([
  ...rows(new Matrix4().makeScale(2, 2, 2)), ...rows(new Matrix4().makeTranslation(1, 0, 0)), ...rows(new Matrix4().makeTranslation(1, 0, 0))]);
const origin = (model: Float32Array, j: number) => new Vector3().setFromMatrixPosition(matrix4(model, j)).toArray().map((x) => Math.round(x * 1e5) / 1e5 + 0);

describe('toModel', () => {
  test('composes from parents to children', () => {
    const model = toModel(chain, local);
    expect([0, 1, 2].map((j) => origin(model, j))).toEqual([[0, 0, 0], [2, 0, 0], [4, 0, 0]]);
  });

  test('keeps the scale of a parent from the axes of a joint that compensates', () => {
    const model = toModel([joint(-1), joint(0, true), joint(1)], local);
    expect([0, 1, 2].map((j) => origin(model, j))).toEqual([[0, 0, 0], [2, 0, 0], [3, 0, 0]]);
    expect(model[12]).toBe(1);
  });
});

describe('Edits', () => {
  const base = toModel(chain, local);

  test('without edits the pose is the very same', () => expect(new Edits().apply(chain, base)).toBe(base));

  test('turn a joint and what hangs on it, nothing else', () => {
    const edits = new Edits();
    edits.joints.set(1, {turn: quarter, move: new Vector3(0, 0, 1)});
    const posed = edits.apply(chain, base);
    expect(posed.subarray(0, 12)).toEqual(base.subarray(0, 12));
    expect([1, 2].map((j) => origin(posed, j))).toEqual([[2, 0, 2], [2, 2, 2]]);
  });

  test('of the gizmo are in model space, whatever the parent', () => {
    const edits = new Edits();
    edits.joints.set(0, {turn: quarter, move: new Vector3()});
    const turned = edits.apply(chain, base);
    const about = new Quaternion().setFromAxisAngle(new Vector3(1, 0, 0), Math.PI / 2);
    edits.joints.set(1, Edits.changed(undefined, matrix4(turned, 0), about, new Vector3(0, 0, 3)));
    const posed = edits.apply(chain, base);
    expect(origin(posed, 1)).toEqual([0, 2, 3]);
    expect(origin(posed, 2)).toEqual([0, 2, 5]);
  });

  test('are undone and done again, a slider in one step', () => {
    const edits = new Edits();
    for (const value of [0.1, 0.2, 0.3]) {
      edits.step('control 0');
      edits.controls.set(0, value);
    }
    edits.step();
    edits.joints.set(2, {turn: quarter, move: new Vector3()});
    const full = edits.text();
    expect(edits.undo()).toBe(true);
    expect([edits.joints.size, edits.controls.get(0)]).toEqual([0, 0.3]);
    expect(edits.undo()).toBe(true);
    expect(edits.controls.size).toBe(0);
    expect(edits.undo()).toBe(false);
    expect(edits.redo() && edits.redo()).toBe(true);
    expect(edits.text()).toBe(full);
    expect(edits.redo()).toBe(false);
  });

  test.each(['', '{}', '[[[1,2]],[]]', '[[[0,0,0,0,1,0,0,"x"]],[]]'])('refuse the text %s', (text) => expect(new Edits().read(text)).toBe(false));
});

test('the pose as JSON has matrices by joint and values by control', () => {
  const model = toModel(chain, local);
  const rig = {joints: chain, controls: [{name: 'smile'}]} as unknown as CharacterRig;
  expect(JSON.parse(poseJson(rig, model, Float32Array.of(0.5)))).toEqual({
    space: 'SPACE_MODEL', joint_format: 'JOINT_FORMAT_MATRIX_3X4',
    joints: {j0: [...model.subarray(0, 12)], j1: [...model.subarray(12, 24)], j2: [...model.subarray(24)]}, controls: {smile: 0.5}});
});
