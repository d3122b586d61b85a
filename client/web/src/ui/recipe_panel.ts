// One recipe: its text, the server's answer to it, sliders for the parameters of its stages.

import type {ListMethodsResponse, Method, Parameter} from '@proto/info_service_pb';
import {parseRecipe, recipeError, recipeText, type StageText} from '../recipe_text.ts';
import type {Slot} from '../slot.ts';
import {INVALID_ARGUMENT} from '../wire.ts';
import {button, make, plainNumber, say} from './dom.ts';

export class RecipePanel {
  readonly element: HTMLElement;
  #input: HTMLInputElement;
  #menu = make('select', {title: 'Replaces the recipe by a method, or appends a correction'});
  #state = make('p', {className: 'state'});
  #progress = make('progress', {max: 1, hidden: true, 'aria-label': 'Bind'});
  #act: HTMLButtonElement; // ends a bind, or tries again
  #slot: Slot | null = null;
  #error = make('p', {className: 'error', hidden: true});
  #place = make('code', {className: 'place', hidden: true});
  #warnings = make('ul', {className: 'warnings', hidden: true});
  #stages = make('div', {className: 'stages'});
  #shown = ''; // the text that the sliders are made for
  #timer = 0;

  constructor(readonly name: string, private readonly methods: ListMethodsResponse, private readonly maps: string[],
    private readonly changed: (text: string) => void) {
    this.#error.setAttribute('role', 'alert');
    this.#act = button('', '', () => {
      if (this.#slot?.state.kind !== 'binding') return changed(this.#input.value);
      this.#slot.cancel();
      this.text = this.#slot.recipe;
    });
    this.#act.hidden = true;
    this.#input = make('input', {type: 'text', spellcheck: false, autocomplete: 'off', 'aria-label': `Recipe ${name}`,
      title: 'Stages, separated by |, with parameters in brackets: dqs(blend=0.5) | bulge_free',
      oninput: () => this.#later(400),
      onkeydown: (event: KeyboardEvent) => void (event.key === 'Enter' && this.#later(0))}); // false would keep the key
    this.#menu.setAttribute('aria-label', `Method of recipe ${name}`);
    const group = (label: string, options: HTMLElement[]) => make('optgroup', {label}, ...options);
    const option = (value: string, text: string, title: string) => make('option', {value, title}, text);
    this.#menu.append(
      option('', 'Method …', ''),
      group('Presets', methods.presets.map(({name, summary}) => option(name, name, summary))),
      group('Methods that pose', methods.methods.filter((m) => m.reads === 'rest').map((m) => option(m.name, m.name, m.summary))),
      group('Corrections', methods.methods.filter((m) => m.reads !== 'rest').map((m) => option(m.name, m.name, m.summary))));
    this.#menu.onchange = () => this.#choose(this.#menu.value);
    this.element = make('article', {className: 'recipe'},
      make('div', {className: 'row'}, make('h2', {}, name), this.#menu),
      this.#input, this.#progress, this.#error, this.#place, make('div', {className: 'row'}, this.#state, this.#act), this.#warnings, this.#stages);
  }

  set text(text: string) {
    this.#input.value = text;
    this.#showStages();
  }

  // Shows how far the slot is.
  update(slot: Slot): void {
    const {state, session} = slot;
    this.#slot = slot;
    say(this.#act, state.kind === 'binding' ? 'Cancel' : state.kind === 'failed' && state.error.code !== INVALID_ARGUMENT ? 'Try again' : '');
    const empty = slot.recipe && !this.#input.value.trim() && `Got no recipe, need one, such as lbs. ${slot.drawn || slot.recipe} is shown.`;
    const {message, place} = empty ? {message: empty, place: null} : recipeError(slot.recipe, state.kind === 'failed' ? state.error.message : '');
    say(this.#error, message);
    this.#input.setAttribute('aria-invalid', String(message !== ''));
    this.#place.hidden = !place;
    if (place) {
      const [from, to] = place;
      this.#place.replaceChildren(slot.recipe.slice(0, from), make('mark', {}, slot.recipe.slice(from, to) || '\u00a0'), slot.recipe.slice(to));
    }
    this.#progress.hidden = state.kind !== 'binding';
    if (state.kind === 'binding') this.#progress.value = state.progress;
    const bytes = Number(session?.boundBytes ?? 0n);
    say(this.#state, {
      off: '',
      binding: `Binding … ${state.kind === 'binding' ? Math.round(state.progress * 100) : 0} %`,
      live: bytes ? `Bound data: ${bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`}` : '',
      waiting: 'Waiting for the server …',
      failed: slot.live ? 'The last valid recipe is shown.' : '',
    }[state.kind]);
    const warnings = state.kind === 'live' ? session?.warnings ?? [] : [];
    this.#warnings.hidden = warnings.length === 0;
    this.#warnings.replaceChildren(...warnings.map(({message}) => make('li', {}, message)));
  }

  #later(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.changed(this.#input.value);
      this.#showStages();
    }, milliseconds);
  }

  #set(stages: StageText[], milliseconds: number): void {
    this.#input.value = this.#shown = recipeText(stages);
    this.#later(milliseconds);
  }

  #method(name: string): Method | undefined {
    return this.methods.methods.find((method) => method.name === name);
  }

  #choose(name: string): void {
    this.#menu.value = '';
    const method = this.#method(name);
    const stages = parseRecipe(this.#input.value);
    const poses = stages?.some((stage) => this.#method(stage.name)?.reads === 'rest' && stage.name !== 'shapes' ||
      this.methods.presets.some((preset) => preset.name === stage.name));
    if (method && method.reads !== 'rest') this.#input.value = poses ? `${this.#input.value.trim()} | ${name}` : method.example;
    else this.#input.value = method?.example ?? name;
    this.#later(0);
  }

  #showStages(): void {
    const text = this.#input.value.trim();
    if (text === this.#shown) return;
    this.#shown = text;
    const preset = this.methods.presets.find(({name}) => name === text);
    const stages = parseRecipe(preset?.recipeText ?? text);
    this.#stages.replaceChildren();
    if (!stages) return;
    stages.forEach((stage, index) => {
      const method = this.#method(stage.name);
      if (!method) return;
      const remove = button('×', 'Removes this stage', () => this.#set(stages.filter((_, k) => k !== index), 0));
      remove.setAttribute('aria-label', `Remove ${stage.name}`);
      this.#stages.append(make('details', {open: stages.length === 1},
        make('summary', {title: method.summary}, stage.name, make('span', {className: 'hint'}, method.costClass)),
        make('div', {className: 'row'}, make('p', {className: 'hint'}, method.summary), stages.length > 1 && remove),
        ...method.parameters.map((parameter) => this.#parameter(parameter, stage, stages))));
    });
  }

  #parameter(parameter: Parameter, stage: StageText, stages: StageText[]): HTMLElement {
    const {name, type, unit, minimum = 0, maximum = 1} = parameter;
    const write = (value: string) => {
      if (value === parameter.defaultValue) stage.values.delete(name);
      else stage.values.set(name, value);
      reset.hidden = !stage.values.has(name);
      this.#set(stages, 200);
    };
    const reset = button('↺', `Default: ${parameter.defaultValue || 'none'}`, () => {
      stage.values.delete(name);
      this.#set(stages, 0);
      this.#shown = '';
    });
    reset.hidden = !stage.values.has(name);
    reset.setAttribute('aria-label', `Default of ${name}`);
    const now = stage.values.get(name) ?? parameter.defaultValue;
    const output = make('output', {}, now || 'unset');
    let field: HTMLElement;
    const options = type === 'map' ? ['', ...this.maps] : parameter.choices;
    if (type === 'boolean') {
      field = make('input', {type: 'checkbox', checked: now === 'true', onchange: ({target}: Event) =>
        write(String((target as HTMLInputElement).checked))});
      output.hidden = true;
    } else if (options.length) {
      field = make('select', {onchange: ({target}: Event) => write((target as HTMLSelectElement).value)},
        ...options.map((value) => make('option', {value, selected: value === now}, value || 'none')));
      output.hidden = true;
    } else {
      // A range over many powers of ten is logarithmic.
      const logarithmic = minimum > 0 && maximum / minimum >= 100;
      const toSlider = (x: number) => logarithmic ? Math.log(x / minimum) / Math.log(maximum / minimum) : (x - minimum) / (maximum - minimum);
      const steps = type === 'integer' && !logarithmic ? maximum - minimum : 1000;
      field = make('input', {type: 'range', min: '0', max: String(steps), step: '1', value: String(toSlider(Number(now || minimum)) * steps),
        oninput: ({target}: Event) => {
          const part = Number((target as HTMLInputElement).value) / steps;
          let value = logarithmic ? minimum * (maximum / minimum) ** part : minimum + (maximum - minimum) * part;
          value = type === 'integer' ? Math.round(value) : Number(value.toPrecision(3));
          output.textContent = plainNumber(value);
          write(String(value));
        }});
    }
    const title = `${parameter.description}${type === 'number' || type === 'integer' ? ` Range: ${plainNumber(minimum)} to ${plainNumber(maximum)}${unit && ` ${unit}`}.` : ''} Default: ${parameter.defaultValue || 'none'}.`;
    const label = make('label', {className: 'parameter', title}, make('span', {}, name), field, output);
    if (unit) output.title = unit;
    return make('div', {className: 'row'}, label, reset);
  }
}
