// The text form of recipes, as far as sliders and error places need it. The server alone decides what is valid.

export interface StageText {
  name: string;
  values: Map<string, string>; // as written
}

// The stages of a text, or null if it is not of the form name(key=value, ...) | name.
export function parseRecipe(text: string): StageText[] | null {
  const stages: StageText[] = [];
  for (const part of text.split('|')) {
    const match = /^\s*(\w+)\s*(?:\(([^()]*)\))?\s*$/.exec(part);
    if (!match) return null;
    const values = new Map<string, string>();
    for (const pair of match[2]?.trim() ? match[2].split(',') : []) {
      const equals = /^\s*(\w+)\s*=\s*(\S(?:.*\S)?)\s*$/.exec(pair);
      if (!equals) return null;
      values.set(equals[1], equals[2]);
    }
    stages.push({name: match[1], values});
  }
  return stages;
}

export function recipeText(stages: StageText[]): string {
  return stages.map(({name, values}) =>
    values.size ? `${name}(${[...values].map(([key, value]) => `${key}=${value}`).join(', ')})` : name).join(' | ');
}

// An error of the server about `text`: what it says, without the path of the field, and the part [from, to) that it is about.
export function recipeError(text: string, message: string): {message: string; place: [number, number] | null} {
  const path = /^[\w.]*\brecipe(?:_text)?(?:\.stages\[(\d+)\](?:\.(\w+)(?:\.(\w+))?)?)?: /.exec(message);
  if (!path) return {message, place: null};
  const [prefix, index, , parameter] = path;
  const rest = message.slice(prefix.length);
  if (index !== undefined) {
    const parts = text.split('|');
    const part = parts[Number(index)] ?? '';
    const from = parts.slice(0, Number(index)).reduce((sum, before) => sum + before.length + 1, 0);
    const word = parameter && new RegExp(`\\b${parameter}\\b(\\s*=\\s*[^,)]*)?`).exec(part);
    const start = from + (word ? word.index : part.length - part.trimStart().length);
    return {message: parameter ? `${parameter}: ${rest}` : rest, place: [start, start + (word ? word[0].length : part.trim().length)]};
  }
  const column = /\bat column (\d+)/.exec(rest);
  if (column) return {message: rest, place: [Number(column[1]) - 1, Number(column[1])]};
  const name = /'([^']+)'/.exec(rest);
  const at = name ? text.lastIndexOf(name[1]) : -1;
  return {message: rest, place: at < 0 ? null : [at, at + name![1].length]};
}
