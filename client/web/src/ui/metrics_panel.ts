// The metrics of the recipes: measured on demand, as a table for the frame shown and a curve over the clip.

import {curvePath, DISTANCES, failure, measure, METRICS, worstFrame, type Measurement, type Metric, type Subject} from '../metrics.ts';
import type {Server} from '../server.ts';
import {button, make, press, say} from './dom.ts';

export interface MetricsActions {
  subject(): Subject | null; // null: not ready
  frame(): number;
  seek(frame: number): void;
  length(value: number): string; // a length in rig units as text
}

const NS = 'http://www.w3.org/2000/svg';
function svg(tag: string, attributes: Record<string, string>): SVGElement {
  const element = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export class MetricsPanel {
  readonly element: HTMLElement;
  #start = button('Measure clip', 'Measures every frame of the clip with the recipes shown, as `sinew compare` does', () => void this.#measure());
  #crossings = make('input', {type: 'checkbox'});
  #cancel = button('Cancel', 'Stops measuring', () => this.#abort?.abort());
  #progress = make('progress', {max: 1, 'aria-label': 'Measured'});
  #running = make('div', {className: 'row', hidden: true}, this.#progress, this.#cancel);
  #state = make('p', {className: 'state', hidden: true});
  #shown = make('div', {className: 'metrics', hidden: true});
  #title = make('h3', {});
  #range = make('p', {className: 'hint'});
  #lines = ['a', 'b'].map((name) => svg('path', {class: `line ${name}`, 'vector-effect': 'non-scaling-stroke'}));
  #cursor = svg('path', {class: 'cursor', 'vector-effect': 'non-scaling-stroke'});
  #curve = make('div', {className: 'curve', tabIndex: 0});
  #table = make('tbody', {});
  #caption = make('caption', {});
  #all = make('details', {ontoggle: () => this.#showAll()}, make('summary', {}, 'Every frame'));
  #metric: Metric = METRICS[0];
  #result: Measurement | null = null;
  #cells: Array<(frame: number) => void> = []; // each writes its value of a frame
  #buttons = new Map<Metric, HTMLButtonElement>();
  #abort: AbortController | null = null;
  #measuring = ''; // the key of what is measured

  constructor(private readonly server: Server, private readonly actions: MetricsActions) {
    this.#state.setAttribute('role', 'status');
    const picture = svg('svg', {viewBox: '0 0 1000 100', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
    picture.append(...this.#lines, this.#cursor);
    this.#curve.append(picture);
    this.#curve.setAttribute('role', 'slider');
    this.#curve.setAttribute('aria-valuemin', '0');
    this.#curve.onpointerdown = (event) => {
      this.#curve.setPointerCapture(event.pointerId);
      this.#point(event);
    };
    this.#curve.onpointermove = (event) => this.#curve.hasPointerCapture(event.pointerId) && this.#point(event);
    this.#curve.onkeydown = (event) => this.#key(event);
    const head = make('tr', {}, make('td', {}), ...['A', 'worst', 'B', 'worst'].map((name) => make('th', {scope: 'col'}, name)));
    this.#shown.append(this.#title, this.#curve, this.#range,
      make('div', {className: 'scroll'}, make('table', {}, this.#caption, make('thead', {}, head), this.#table)), this.#all);
    this.element = make('article', {className: 'recipe measure'}, make('div', {className: 'row'}, make('h2', {}, 'Metrics'), this.#start),
      make('label', {className: 'hint', title: 'The slow part: all pairs of faces'}, this.#crossings, ' with crossings and overlap'),
      this.#running, this.#state, this.#shown);
  }

  // The frame, a recipe, the clip or the pose may have changed.
  update(): void {
    const subject = this.actions.subject();
    this.#start.disabled = !subject || this.#abort !== null;
    if (this.#abort && subject && subject.key !== this.#measuring) this.#abort.abort();
    const result = this.#result;
    if (!result || this.#abort) return;
    const fits = subject?.key === result.key;
    this.#shown.hidden = !fits;
    if (!fits) return say(this.#state, subject ? 'The recipes, the clip or the pose have changed: measure again.' : '');
    say(this.#state, result.problem);
    const frame = this.actions.frame();
    const text = `Frame ${frame}`;
    if (this.#caption.textContent === text) return;
    this.#caption.textContent = text;
    for (const write of this.#cells) write(frame);
    this.#cursor.setAttribute('d', `M${1000 * frame / Math.max(1, result.frames - 1)} 0V100`);
    this.#curve.setAttribute('aria-valuenow', String(frame));
    this.#curve.setAttribute('aria-valuetext', `frame ${frame}: ${result.values.map((_, k) => `${'AB'[k]} ${this.#text(k, frame)}`).join(', ')}`);
  }

  async #measure(): Promise<void> {
    const subject = this.actions.subject();
    if (!subject) return;
    const abort = this.#abort = new AbortController();
    this.#measuring = subject.key;
    this.#progress.value = 0;
    this.#running.hidden = false;
    this.#shown.hidden = true;
    say(this.#state, '');
    let message = '';
    this.update();
    try {
      this.#result = await measure(this.server, subject, this.#crossings.checked, (part) => (this.#progress.value = part), abort.signal);
      this.#fill();
      this.element.scrollIntoView(); // most of it was below the window
    } catch (error) {
      this.#result = null;
      message = failure(error);
    }
    this.#abort = null;
    this.#running.hidden = true;
    this.update();
    if (message) say(this.#state, message);
  }

  #values(recipe: number, metric = this.#metric): Float64Array | undefined {
    return this.#result?.values[recipe]?.get(metric.key);
  }

  #text(recipe: number, frame: number, metric = this.#metric): string {
    const values = this.#values(recipe, metric);
    const value = values?.[frame] ?? NaN;
    return Number.isNaN(value) ? '–' : DISTANCES.includes(metric) ? this.#length(value, values![worstFrame(values!)]) : metric.text(value);
  }

  // What is as small as the rounding of coordinates is 0.
  #length(value: number, largest: number): string {
    return value < 1e-4 * largest ? '0' : this.actions.length(value);
  }

  // A row for each metric that some frame has.
  #fill(): void {
    const {values} = this.#result!;
    const known = [...DISTANCES, ...METRICS].filter(({key}) => values.some((metrics) => metrics.has(key)));
    if (!known.includes(this.#metric)) this.#metric = known[0] ?? METRICS[0];
    this.#cells = [];
    this.#buttons.clear();
    this.#caption.textContent = '';
    this.#shown.classList.toggle('one', values.length < 2);
    this.#table.replaceChildren(...known.map((metric) => {
      const choose = button(metric.label, metric.about, () => this.#choose(metric));
      this.#buttons.set(metric, choose);
      return make('tr', {}, make('th', {scope: 'row'}, choose, metric.unit && ` ${metric.unit}`), ...values.flatMap((_, recipe) => this.#cellsOf(recipe, metric)));
    }));
    this.#choose(this.#metric);
  }

  #cellsOf(recipe: number, metric: Metric): HTMLElement[] {
    const now = make('data', {});
    const values = this.#values(recipe, metric);
    this.#cells.push((frame) => {
      now.textContent = this.#text(recipe, frame, metric);
      now.value = String(values?.[frame] ?? NaN);
    });
    const worst = values ? worstFrame(values, metric.smallIsWorst) : -1;
    const go = worst >= 0 && button(this.#text(recipe, worst, metric), `Go to frame ${worst}`, () => {
      this.#choose(metric);
      this.actions.seek(worst);
    });
    return [make('td', {}, now), make('td', {}, go)];
  }

  // Shows the curve of a metric.
  #choose(metric: Metric): void {
    this.#metric = metric;
    this.#buttons.forEach((made, each) => press(made, each === metric));
    const {frames, values} = this.#result!;
    const all = values.flatMap((_, recipe) => [...this.#values(recipe) ?? []]).filter((value) => !Number.isNaN(value));
    const [low, high] = all.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    this.#lines.forEach((line, recipe) => line.setAttribute('d', curvePath(this.#values(recipe) ?? new Float64Array(), low, high)));
    const text = (value: number) => DISTANCES.includes(metric) ? this.#length(value, high) : `${metric.text(value)}${metric.unit ? ` ${metric.unit}` : ''}`;
    this.#title.textContent = metric.label;
    this.#range.textContent = `${metric.about}. From ${text(low)} to ${text(high)}; a click goes to a frame.`;
    this.#curve.setAttribute('aria-label', `Frame, with ${metric.label}`);
    this.#curve.setAttribute('aria-valuemax', String(frames - 1));
    this.#caption.textContent = '';
    this.#showAll();
    this.update();
  }

  // The numbers of the curve, for those who cannot see it.
  #showAll(): void {
    this.#all.querySelector('div')?.remove();
    if (!this.#all.open || !this.#result) return;
    const {frames, values} = this.#result;
    const cells = (tag: 'th' | 'td', texts: string[]) => make('tr', {}, ...texts.map((text) => make(tag, {}, text)));
    this.#all.append(make('div', {className: 'scroll', tabIndex: 0}, make('table', {}, make('caption', {}, this.#metric.label),
      make('thead', {}, cells('th', ['Frame', ...values.map((_, k) => 'AB'[k])])),
      make('tbody', {}, ...Array.from({length: frames}, (_, frame) => cells('td', [String(frame), ...values.map((_, k) => this.#text(k, frame))]))))));
  }

  #point(event: PointerEvent): void {
    const box = this.#curve.getBoundingClientRect();
    this.#seek((event.clientX - box.left) / box.width * (this.#result!.frames - 1));
  }

  #seek(frame: number): void {
    this.actions.seek(Math.round(Math.min(this.#result!.frames - 1, Math.max(0, frame))));
  }

  #key(event: KeyboardEvent): void {
    const now = this.actions.frame();
    const frame = {ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, PageDown: now - 10, PageUp: now + 10,
      Home: 0, End: Infinity}[event.key];
    if (frame === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#seek(frame);
  }
}
