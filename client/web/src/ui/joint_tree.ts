// The joints as a tree: a click or the arrow keys choose one, a filter finds one by name.

import type {Joint} from '../rig.ts';
import {make} from './dom.ts';

export class JointTree {
  readonly element: HTMLElement;
  #filter: HTMLInputElement;
  #tree: HTMLElement;
  #rows: HTMLElement[];
  #closed = new Set<number>();
  #order: number[] = []; // joints in the order of the tree
  #children: number[][];
  #chosen = -1;

  constructor(private readonly joints: Joint[], private readonly choose: (joint: number) => void) {
    this.#children = joints.map(() => []);
    const roots: number[] = [];
    joints.forEach(({parent}, j) => (parent < 0 ? roots : this.#children[parent]).push(j));
    const level = joints.map(() => 1);
    joints.forEach(({parent}, j) => parent >= 0 && (level[j] = level[parent] + 1));
    const visit = (j: number): void => {
      const open = [j];
      while (open.length) { // no recursion: chains of joints may be long
        const next = open.pop()!;
        this.#order.push(next);
        open.push(...[...this.#children[next]].reverse());
      }
    };
    roots.forEach(visit);
    this.#rows = joints.map(({name}, j) => {
      const row = make('div', {id: `joint-${j}`, className: 'joint', 'aria-level': level[j], 'aria-selected': false,
        onclick: () => this.choose(j)}, make('span', {className: 'twist', 'aria-hidden': true,
        onclick: (event: Event) => {
          event.stopPropagation();
          this.#open(j, this.#closed.has(j));
        }}), name);
      row.setAttribute('role', 'treeitem');
      row.style.paddingInlineStart = `${Math.min(level[j] - 1, 16) * 0.5 + 0.2}rem`;
      return row;
    });
    this.#filter = make('input', {type: 'search', placeholder: `Find among ${joints.length} joint${joints.length === 1 ? '' : 's'}`, 'aria-label': 'Find a joint', oninput: () => {
      this.#show();
      this.#reveal();
    }});
    this.#tree = make('div', {className: 'tree', tabIndex: 0, 'aria-label': 'Joints', onkeydown: (event: KeyboardEvent) => this.#key(event)});
    this.#tree.setAttribute('role', 'tree');
    this.#tree.append(...this.#order.map((j) => this.#rows[j]));
    this.element = make('div', {}, this.#filter, this.#tree);
    this.#show();
  }

  // Marks a joint and shows its row; -1 = none.
  set chosen(joint: number) {
    this.#rows[this.#chosen]?.setAttribute('aria-selected', 'false');
    this.#chosen = joint;
    const row = this.#rows[joint];
    if (!row) {
      this.#tree.removeAttribute('aria-activedescendant');
      return;
    }
    row.setAttribute('aria-selected', 'true');
    this.#tree.setAttribute('aria-activedescendant', row.id);
    for (let above = this.joints[joint].parent; above >= 0; above = this.joints[above].parent) this.#closed.delete(above);
    this.#show();
    this.#reveal();
  }

  // Scrolls to the chosen joint.
  #reveal(): void {
    const row = this.#rows[this.#chosen];
    if (!row || row.hidden) return;
    const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
    if (top < this.#tree.scrollTop || bottom > this.#tree.scrollTop + this.#tree.clientHeight) this.#tree.scrollTop = top - this.#tree.clientHeight / 2;
  }

  // Marks the joints that have edits.
  set edited(joints: Iterable<number>) {
    const all = new Set(joints);
    this.#rows.forEach((row, j) => row.classList.toggle('edited', all.has(j)));
  }

  #open(joint: number, open: boolean): void {
    if (open) this.#closed.delete(joint);
    else if (this.#children[joint].length) this.#closed.add(joint);
    this.#show();
  }

  #show(): void {
    const wanted = this.#filter.value.trim().toLowerCase();
    const hidden = this.joints.map(() => false);
    this.joints.forEach(({name, parent}, j) => {
      hidden[j] = wanted ? !name.toLowerCase().includes(wanted) : parent >= 0 && (hidden[parent] || this.#closed.has(parent));
      this.#rows[j].hidden = hidden[j];
      if (this.#children[j].length) this.#rows[j].setAttribute('aria-expanded', String(!this.#closed.has(j)));
    });
  }

  #key(event: KeyboardEvent): void {
    const shown = this.#order.filter((j) => !this.#rows[j].hidden);
    const at = shown.indexOf(this.#chosen);
    const steps: Record<string, number> = {ArrowDown: at + 1, ArrowUp: Math.max(0, at - 1), Home: 0, End: shown.length - 1};
    if (event.key in steps) this.choose(shown[Math.min(steps[event.key], shown.length - 1)]);
    else if (event.key === 'ArrowLeft' && at >= 0) {
      if (this.#children[this.#chosen].length && !this.#closed.has(this.#chosen)) this.#open(this.#chosen, false);
      else if (this.joints[this.#chosen].parent >= 0) this.choose(this.joints[this.#chosen].parent);
    } else if (event.key === 'ArrowRight' && at >= 0) this.#open(this.#chosen, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
