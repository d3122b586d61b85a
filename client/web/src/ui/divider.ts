// The border of a wipe, which is dragged or moved by arrow keys.

import {find} from './dom.ts';

export class Divider {
  part = 0; // of the view's width
  #element = find('divider');

  constructor(private readonly moved: () => void) {
    const element = this.#element;
    element.onpointerdown = (event) => element.setPointerCapture(event.pointerId);
    element.onpointermove = (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const box = find('canvas').getBoundingClientRect();
      this.#move((event.clientX - box.left) / box.width);
    };
    element.onkeydown = (event) => {
      const step = {ArrowLeft: -0.02, ArrowRight: 0.02, Home: -1, End: 1}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      this.step(step);
    };
  }

  step(by: number): void {
    this.#move(this.part + by);
  }

  #move(part: number): void {
    this.part = Math.min(1, Math.max(0, part));
    this.moved();
  }

  show(visible: boolean): void {
    this.#element.hidden = !visible;
    this.#element.style.left = `${this.part * 100}%`;
    this.#element.setAttribute('aria-valuenow', String(Math.round(this.part * 100)));
  }
}
