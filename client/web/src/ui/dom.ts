// Elements. Texts of the server reach the page as text nodes only.

type Child = Node | string | null | undefined | false;

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Partial<Omit<HTMLElementTagNameMap[K], 'style' | 'dataset'>> & Record<`aria-${string}`, unknown> = {},
  ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('aria-')) element.setAttribute(key, String(value));
    else Object.assign(element, {[key]: value});
  }
  element.append(...children.filter((child): child is Node | string => !!child || child === ''));
  return element;
}

export function find<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

// Sets a text, hiding the element while there is none.
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === '';
}

export function button(text: string, hint: string, act: () => void): HTMLButtonElement {
  return make('button', {type: 'button', title: hint, onclick: act}, text);
}

export function toggle(text: string, hint: string, act: (on: boolean) => void): HTMLButtonElement {
  const made = button(text, hint, () => act(made.getAttribute('aria-pressed') !== 'true'));
  made.setAttribute('aria-pressed', 'false');
  return made;
}

export function press(element: HTMLElement, on: boolean): void {
  element.setAttribute('aria-pressed', String(on));
}

// Buttons of which one is pressed.
export function choice<T extends string>(name: string, options: Array<[T, string, string]>, act: (value: T) => void) {
  const buttons = new Map(options.map(([value, text, hint]) => [value, toggle(text, hint, () => act(value))]));
  return {
    element: Object.assign(make('div', {className: 'group', 'aria-label': name}, ...buttons.values()), {role: 'group'}),
    set: (value: T) => buttons.forEach((made, key) => press(made, key === value)),
  };
}

// Hands a file to the browser, which saves it.
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  make('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export function plainNumber(value: number, digits = 4): string {
  return String(Number(value.toPrecision(digits)));
}
