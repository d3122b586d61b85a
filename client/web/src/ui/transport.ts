// Play, pause, scrub, step; which clip, how fast.

import type {Player} from '../player.ts';
import {button, find, make, press, toggle} from './dom.ts';

export class Transport {
  #play: HTMLButtonElement;
  #scrub: HTMLInputElement;
  #frame = make('output', {className: 'frame'});
  #clips: HTMLSelectElement;
  #loop: HTMLButtonElement;

  constructor(private readonly player: Player, failed: (error: unknown) => void) {
    this.#play = button('▶', '', () => player.play(!player.playing));
    this.#scrub = make('input', {type: 'range', min: '0', step: '1', 'aria-label': 'Frame', oninput: () => {
      player.play(false);
      player.seek(Number(this.#scrub.value));
    }});
    this.#clips = make('select', {'aria-label': 'Clip', onchange: () => {
      player.choose(Number(this.#clips.value)).catch(failed);
    }}, make('option', {value: '-1'}, 'Rest pose'), ...player.clips.map(({name}, k) => make('option', {value: String(k)}, name || `Clip ${k + 1}`)));
    this.#loop = toggle('Loop', 'Start again at the end (L)', (on) => {
      player.loop = on;
      this.update();
    });
    const speed = make('select', {'aria-label': 'Speed', onchange: () => (player.speed = Number(speed.value))},
      ...['0.1', '0.25', '0.5', '1', '2'].map((value) => make('option', {value, selected: value === '1'}, `${value} ×`)));
    const back = button('‹', 'One frame back (←)', () => player.step(-1));
    const ahead = button('›', 'One frame on (→)', () => player.step(1));
    back.setAttribute('aria-label', 'One frame back');
    ahead.setAttribute('aria-label', 'One frame on');
    find('transport').append(this.#clips, back, this.#play, ahead, this.#scrub, this.#frame, speed, this.#loop);
    this.update();
  }

  update(): void {
    const {clip, frame, playing, loop} = this.player;
    this.#play.textContent = playing ? '❚❚' : '▶';
    this.#play.title = playing ? 'Pause (space)' : 'Play (space)';
    this.#play.setAttribute('aria-label', playing ? 'Pause' : 'Play');
    this.#clips.value = String(clip?.index ?? -1);
    this.#scrub.max = String((clip?.frames ?? 1) - 1);
    this.#scrub.value = String(frame);
    this.#scrub.disabled = this.#play.disabled = !clip;
    this.#frame.textContent = clip ? `${frame} / ${clip.frames - 1}` : '–';
    press(this.#loop, loop);
  }
}
