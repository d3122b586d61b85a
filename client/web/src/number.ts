// Numbers that a user types.

// A number in decimal notation within [minimum, maximum], or what is wrong with the text.
export function parseNumber(text: string, minimum: number, maximum: number): number | string {
  const given = text.trim();
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given) ? Number(given) : NaN;
  if (value >= minimum && value <= maximum) return value;
  return `got ${given ? `"${given}"` : 'nothing'}, need a number from ${minimum} to ${maximum}, such as 1.5`;
}
