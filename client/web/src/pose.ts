// Poses in the page: joint-to-model matrices, 3 x 4, row-major, of a clip or of the rest pose, and what the user adds.

import {Matrix4, Quaternion, Vector3} from 'three';
import type {CharacterRig, Joint} from './rig.ts';

export type Matrices = Float32Array | Float64Array;

// out = a * b, all at their offsets; out may be a or b.
export function compose(a: Matrices, ao: number, b: Matrices, bo: number, out: Matrices, oo: number): void {
  const result = new Float64Array(12);
  for (let row = 0; row < 3; row++) {
    const [x, y, z, w] = [a[ao + row * 4], a[ao + row * 4 + 1], a[ao + row * 4 + 2], a[ao + row * 4 + 3]];
    for (let column = 0; column < 4; column++) {
      result[row * 4 + column] = x * b[bo + column] + y * b[bo + 4 + column] + z * b[bo + 8 + column] + (column === 3 ? w : 0);
    }
  }
  out.set(result, oo);
}

// The joint-to-model matrices of joints given in their parents' spaces.
export function toModel(joints: Joint[], local: Matrices): Float32Array {
  const model = new Float64Array(local.length);
  joints.forEach(({parent, compensates}, j) => {
    const own = Float64Array.from(local.subarray(j * 12, j * 12 + 12));
    if (parent < 0) {
      model.set(own, j * 12);
      return;
    }
    if (compensates) { // the parent's scale moves the joint's origin but does not reach its axes
      for (let row = 0; row < 3; row++) {
        const scale = Math.hypot(local[parent * 12 + row], local[parent * 12 + 4 + row], local[parent * 12 + 8 + row]);
        if (scale > 0) for (let column = 0; column < 3; column++) own[row * 4 + column] /= scale;
      }
    }
    compose(model, parent * 12, own, 0, model, j * 12);
  });
  return Float32Array.from(model);
}

export function matrix4(m: Matrices, joint: number): Matrix4 {
  const o = joint * 12;
  return new Matrix4().set(m[o], m[o + 1], m[o + 2], m[o + 3], m[o + 4], m[o + 5], m[o + 6], m[o + 7],
    m[o + 8], m[o + 9], m[o + 10], m[o + 11], 0, 0, 0, 1);
}

function set(out: Float32Array, joint: number, {elements: e}: Matrix4): void {
  out.set([e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]], joint * 12);
}

export function rotationOf(matrix: Matrix4): Quaternion {
  const rotation = new Quaternion();
  matrix.decompose(new Vector3(), rotation, new Vector3());
  return rotation;
}

// What the user adds to a joint, in its parent's space: its axes are turned, its origin is moved.
export interface Edit {
  turn: Quaternion;
  move: Vector3;
}

// The edits of a pose and the values of its controls, with their history.
export class Edits {
  joints = new Map<number, Edit>();
  controls = new Map<number, number>();
  #before: string[] = [];
  #after: string[] = [];
  #changed = '';

  // The pose with the edits; `base` itself if there are none. Joints below an edited one follow, all others keep their bits.
  apply(joints: Joint[], base: Float32Array): Float32Array {
    if (!this.joints.size) return base;
    const out = base.slice();
    const moved = new Uint8Array(joints.length);
    joints.forEach(({parent}, j) => {
      const edit = this.joints.get(j);
      if (!edit && (parent < 0 || !moved[parent])) return;
      moved[j] = 1;
      const from = parent < 0 ? new Matrix4() : matrix4(base, parent);
      if (from.determinant() === 0) return;
      const local = from.invert().multiply(matrix4(base, j));
      if (edit) {
        const origin = new Vector3().setFromMatrixPosition(local).add(edit.move);
        local.premultiply(new Matrix4().makeRotationFromQuaternion(edit.turn)).setPosition(origin);
      }
      set(out, j, parent < 0 ? local : matrix4(out, parent).multiply(local));
    });
    return out;
  }

  // Turns and moves a joint of the pose `posed` by what is given in model space, starting from `edit`.
  static changed(edit: Edit | undefined, parent: Matrix4 | null, turn: Quaternion, move: Vector3): Edit {
    const frame = parent ? rotationOf(parent) : new Quaternion();
    const inverse = parent ? parent.clone().setPosition(0, 0, 0).invert() : new Matrix4();
    return {
      turn: frame.clone().invert().multiply(turn).multiply(frame).multiply(edit?.turn ?? new Quaternion()).normalize(),
      move: move.clone().applyMatrix4(inverse).add(edit?.move ?? new Vector3()),
    };
  }

  // A step that undo returns to. Steps of one `name` in a row are one, as those of a slider.
  step(name = ''): void {
    if (name && name === this.#changed && !this.#after.length) return;
    this.#changed = name;
    this.#before.push(this.text());
    if (this.#before.length > 200) this.#before.shift();
    this.#after = [];
  }

  undo(): boolean {
    return this.#exchange(this.#before, this.#after);
  }

  redo(): boolean {
    return this.#exchange(this.#after, this.#before);
  }

  #exchange(from: string[], to: string[]): boolean {
    const text = from.pop();
    if (text === undefined) return false;
    this.#changed = '';
    to.push(this.text());
    this.read(text);
    return true;
  }

  // All edits as a short text, for links and the history.
  text(): string {
    const short = (x: number) => Number(x.toFixed(5));
    return JSON.stringify([
      [...this.joints].map(([joint, {turn, move}]) => [joint, ...turn.toArray().map(short), ...move.toArray().map(short)]),
      [...this.controls].map(([control, value]) => [control, short(value)]),
    ]);
  }

  // Takes over a text(); anything else is refused with false.
  read(text: string): boolean {
    let parts: unknown;
    try {
      parts = JSON.parse(text);
    } catch {
      return false;
    }
    const rows = (list: unknown, length: number): list is number[][] => Array.isArray(list) && list.every((row) =>
      Array.isArray(row) && row.length === length && row.every((x) => typeof x === 'number' && Number.isFinite(x)));
    if (!Array.isArray(parts) || !rows(parts[0], 8) || !rows(parts[1], 2)) return false;
    this.joints = new Map(parts[0].map(([joint, x, y, z, w, ...move]) =>
      [joint, {turn: new Quaternion(x, y, z, w).normalize(), move: new Vector3(...move)}]));
    this.controls = new Map(parts[1].map(([control, value]) => [control, value]));
    return true;
  }
}

// The pose for other programs: matrices by joint, values by control; one line each.
export function poseJson(rig: CharacterRig, model: Float32Array, controls: Float32Array): string {
  const number = (x: number) => String(Number(x.toPrecision(9))); // as many digits as a float32 needs
  const lines = (names: Array<{name: string}>, value: (index: number) => string) =>
    names.map(({name}, k) => `\n    ${JSON.stringify(name)}: ${value(k)}`).join(',');
  return `{
  "space": "SPACE_MODEL",
  "joint_format": "JOINT_FORMAT_MATRIX_3X4",
  "joints": {${lines(rig.joints, (j) => `[${[...model.subarray(j * 12, j * 12 + 12)].map(number).join(', ')}]`)}
  },
  "controls": {${lines(rig.controls, (c) => number(controls[c]))}
  }
}
`;
}
