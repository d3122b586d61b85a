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

// The part of `text` that an error of the server is about: [from, to), or null.
export function errorPlace(text: string, message: string): [number, number] | null {
  const column = /\b(?:at|column) (?:column )?(\d+)\b/.exec(message);
  if (/\bcolumn \d+/.test(message) && column) {
    const from = Math.min(Number(column[1]) - 1, text.length);
    return [from, Math.max(from + 1, from + (/^\w*/.exec(text.slice(from))?.[0].length ?? 0))];
  }
  const stage = /\bstage (\d+)(?: \(\w+\))?(?:, (\w+))?/.exec(message);
  if (stage) {
    const parts = text.split('|');
    const index = Number(stage[1]) - 1;
    if (index >= parts.length) return null;
    const from = parts.slice(0, index).reduce((sum, part) => sum + part.length + 1, 0);
    const word = stage[2] && new RegExp(`\\b${stage[2]}\\b(\\s*=\\s*[^,)]*)?`).exec(parts[index]);
    if (word) return [from + word.index, from + word.index + word[0].length];
    const start = from + parts[index].length - parts[index].trimStart().length;
    return [start, start + parts[index].trim().length];
  }
  const quoted = /'([^']+)'/.exec(message);
  const at = quoted ? text.indexOf(quoted[1]) : -1;
  return at >= 0 ? [at, at + quoted![1].length] : null;
}
