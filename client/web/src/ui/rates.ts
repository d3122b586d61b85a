// What is said below the clip: frames, delay and bytes since it was said last, and how long deforming took.

import type {Viewer} from '../viewer.ts';
import {find, plainNumber} from './dom.ts';

export class Rates {
  #before = {at: performance.now(), shown: 0, bytes: 0, skipped: 0};

  constructor(private readonly viewer: Viewer) {}

  show(): void {
    const {viewer} = this;
    const now = {at: performance.now(), shown: viewer.shown, bytes: viewer.streams.bytes,
      skipped: viewer.slots.reduce((sum, slot) => sum + slot.skipped, 0)};
    const seconds = (now.at - this.#before.at) / 1000;
    const times = viewer.slots.flatMap(({shape}, k) => shape ? [`${'AB'[k]} ${plainNumber(shape.evaluateSeconds * 1e3, 2)} ms`] : []);
    const aSecond = (key: 'shown' | 'skipped' | 'bytes') => (now[key] - this.#before[key]) / seconds;
    const delay = Math.max(...viewer.slots.filter(({shape}) => shape).map((slot) => slot.delay));
    find('rates').textContent = [`${Math.round(aSecond('shown'))} frames/s`, `${Math.round(aSecond('skipped'))} left out`,
      ...(delay >= 0 && !viewer.follows ? [`delay ${Math.round(delay * 1e3)} ms`] : []), `${(aSecond('bytes') / 1e6).toFixed(1)} MB/s`,
      ...(times.length ? [`deforming ${times.join(', ')}`] : []), `${viewer.rig.vertices.toLocaleString('en')} vertices`].join(' · ');
    this.#before = now;
  }
}
