// The chosen joint and vertex, the gizmo's mode, controls.

import {Euler, MathUtils, Quaternion, Vector3} from 'three';
import type {Edits} from '../pose.ts';
import {parseNumber} from '../number.ts';
import {influencesOf, type CharacterRig} from '../rig.ts';
import {button, choice, make, plainNumber, press, say, toggle} from './dom.ts';
import {JointTree} from './joint_tree.ts';

export type GizmoMode = 'turn' | 'move';
export type GizmoSpace = 'local' | 'parent' | 'world';

export interface PoseActions {
  choose(joint: number): void;
  edited(): void; // joints or controls of Edits have changed
  mode(mode: GizmoMode): void;
  space(space: GizmoSpace): void;
  weights(on: boolean): void;
  undo(): void;
  redo(): void;
  copy(): void;
  save(): void;
}

export class PosePanel {
  readonly element: HTMLElement;
  #tree: JointTree;
  #title = make('h3', {});
  #numbers: HTMLInputElement[] = [];
  #shown = [0, 0, 0, 0, 0, 0]; // what they show: degrees, rig units
  #wrong = make('p', {className: 'error', hidden: true});
  #mode;
  #space;
  #weights: HTMLButtonElement;
  #joint = make('div', {hidden: true});
  #vertex = make('div', {className: 'vertex', hidden: true});
  #unused = make('p', {className: 'hint', hidden: true});
  #controls: Array<{slider: HTMLInputElement; output: HTMLElement; reset: HTMLButtonElement}> = [];
  #chosen = -1;

  constructor(private readonly rig: CharacterRig, private readonly edits: Edits, private readonly actions: PoseActions) {
    this.#wrong.setAttribute('role', 'alert');
    this.#tree = new JointTree(rig.joints, actions.choose);
    this.#mode = choice<GizmoMode>('Gizmo', [['turn', 'Turn', 'The gizmo turns the joint (E)'], ['move', 'Move', 'The gizmo moves the joint (G)']], actions.mode);
    this.#space = choice<GizmoSpace>('Axes', [['local', 'Local', 'Axes of the joint'], ['parent', 'Parent', 'Axes of its parent'],
      ['world', 'World', 'Axes of the model']], actions.space);
    this.#weights = toggle('Show its weights', 'Colours the skin by the weight of this joint (V)', actions.weights);
    const row = (label: string, unit: string, first: number) => make('div', {className: 'row numbers'}, make('span', {}, label),
      ...[0, 1, 2].map((axis) => this.#number(`${label} ${'xyz'[axis]}`, unit, first + axis)));
    this.#joint.append(this.#title, make('div', {className: 'row'}, this.#mode.element, this.#space.element),
      row('Turn', 'degrees around the parent’s axes', 0), row('Move', 'rig units along the parent’s axes', 3), this.#wrong,
      make('div', {className: 'row'}, this.#weights, button('Reset joint', 'Takes back what was done to this joint (R)', () => this.resetJoint())));
    this.element = make('div', {},
      make('div', {className: 'row'}, make('h2', {}, 'Joints'), make('div', {className: 'bar'},
        button('Undo', 'Undo (Ctrl Z)', actions.undo), button('Redo', 'Redo (Ctrl Y)', actions.redo),
        button('Reset', 'Takes back all changes of the pose', () => this.resetAll()))),
      make('div', {className: 'bar'}, button('Copy JSON', 'Copies the pose: joint to model matrices by name', actions.copy),
        button('Save .npy', 'Saves the pose as an array for --poses, numpy and this page; the values of controls as one of their own', actions.save)),
      this.#tree.element, this.#joint, this.#vertex, this.#controlSliders());
  }

  resetJoint(): void {
    if (!this.edits.joints.has(this.#chosen)) return;
    this.edits.step();
    this.edits.joints.delete(this.#chosen);
    this.actions.edited();
  }

  resetAll(): void {
    if (!this.edits.joints.size && !this.edits.controls.size) return;
    this.edits.step();
    this.edits.joints.clear();
    this.edits.controls.clear();
    this.actions.edited();
  }

  set mode(mode: GizmoMode) {
    this.#mode.set(mode);
  }

  set space(space: GizmoSpace) {
    this.#space.set(space);
  }

  // Whether a recipe shown has a stage that controls act on.
  set controlsUsed(used: boolean) {
    say(this.#unused, used ? '' : `No recipe shown uses controls; ${this.rig.muscles ? 'lbs | muscle' : 'shapes | lbs'} would.`);
  }

  set weightsShown(on: boolean) {
    press(this.#weights, on);
  }

  // Shows a joint, and the values of controls as they are posed.
  update(joint: number, controls: Float32Array): void {
    if (joint !== this.#chosen) {
      this.#tree.chosen = joint;
      say(this.#wrong, '');
    }
    this.#chosen = joint;
    this.#tree.edited = this.edits.joints.keys();
    this.#joint.hidden = joint < 0;
    this.#title.textContent = this.rig.joints[joint]?.name ?? '';
    const edit = this.edits.joints.get(joint);
    const turn = new Euler().setFromQuaternion(edit?.turn ?? new Quaternion());
    this.#shown = [turn.x, turn.y, turn.z].map(MathUtils.radToDeg).concat(edit?.move.toArray() ?? [0, 0, 0]).map((x) => Math.abs(x) < 1e-6 ? 0 : x);
    this.#numbers.forEach((input, k) => {
      if (input !== document.activeElement || !input.value) input.value = plainNumber(this.#shown[k]);
    });
    this.#controls.forEach(({slider, output, reset}, c) => {
      slider.value = String(controls[c]);
      output.textContent = plainNumber(controls[c]);
      reset.hidden = !this.edits.controls.has(c);
    });
  }

  // Shows the influences of a vertex; -1 = none.
  showVertex(vertex: number): void {
    this.#vertex.hidden = vertex < 0;
    if (vertex < 0) return;
    const mesh = this.rig.meshes.find(({offset, count}) => vertex < offset + count)!;
    const list = influencesOf(this.rig.influences, vertex).map(({joint, weight}) => {
      const bar = make('meter', {min: 0, max: 1, value: weight, 'aria-label': this.rig.joints[joint].name});
      return make('li', {}, button(this.rig.joints[joint].name, 'Chooses this joint', () => this.actions.choose(joint)), bar, weight.toFixed(3));
    });
    this.#vertex.replaceChildren(make('h3', {}, `Vertex ${vertex - mesh.offset} of ${mesh.name || 'the mesh'}`), make('ul', {}, ...list));
  }

  #number(label: string, unit: string, place: number): HTMLInputElement {
    const most = place < 3 ? 360 : 1e6;
    const take = (text: string): void => {
      const value = parseNumber(text, -most, most);
      say(this.#wrong, typeof value === 'string' ? `${label}: ${value}.` : '');
      const numbers = this.#shown.slice();
      if (typeof value === 'number') numbers[place] = value;
      if (numbers[place] === this.#shown[place]) { // the old value stays
        input.value = plainNumber(this.#shown[place]);
        return;
      }
      this.edits.step();
      this.edits.joints.set(this.#chosen, {
        turn: new Quaternion().setFromEuler(new Euler(...numbers.slice(0, 3).map(MathUtils.degToRad) as [number, number, number])),
        move: new Vector3(...numbers.slice(3)),
      });
      this.actions.edited();
    };
    const input = make('input', {type: 'text', inputMode: 'decimal', className: 'number', title: `${unit}; ↑ and ↓ change it by ${place < 3 ? '1°' : '1 cm'}, with Shift by ten times as much`, 'aria-label': `${label}, ${unit}`,
      onchange: () => take(input.value),
      onkeydown: (event: KeyboardEvent) => {
        const step = ({ArrowUp: 1, ArrowDown: -1}[event.key] ?? 0) * (event.shiftKey ? 10 : 1) * (place < 3 ? 1 : 0.01 / (this.rig.metersPerUnit || 1));
        if (!step) return;
        event.preventDefault();
        take(input.value = plainNumber(this.#shown[place] + step));
      }});
    input.setAttribute('role', 'spinbutton');
    this.#numbers[place] = input;
    return input;
  }

  #controlSliders(): HTMLElement {
    const section = make('div', {className: 'controls'}, this.rig.controls.length > 0 && make('h2', {}, 'Controls'), this.#unused);
    this.rig.controls.forEach(({name, minimum = 0, maximum = 1, defaultValue = 0}, c) => {
      const slider = make('input', {type: 'range', min: String(minimum), max: String(maximum), step: 'any', value: String(defaultValue), oninput: () => {
        this.edits.step(`control ${c}`);
        this.edits.controls.set(c, Number(slider.value));
        this.actions.edited();
      }});
      const reset = button('↺', 'As in the clip, or its default', () => {
        this.edits.step();
        this.edits.controls.delete(c);
        this.actions.edited();
      });
      reset.setAttribute('aria-label', `Default of ${name}`);
      const output = make('output', {});
      this.#controls.push({slider, output, reset});
      section.append(make('div', {className: 'row'}, make('label', {className: 'parameter', title: name}, make('span', {}, name), slider, output), reset));
    });
    section.hidden = this.rig.controls.length === 0;
    return section;
  }
}
