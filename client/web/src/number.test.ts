import {expect, test} from 'vitest';
import {parseNumber} from './number.ts';

test.each([['0', 0], [' 1.5 ', 1.5], ['-.25', -0.25], ['+3.', 3], ['1e2', 100], ['360', 360]])('%j is a number', (text, value) =>
  expect(parseNumber(text, -360, 360)).toBe(value));

test.each(['1,5', '1 5', '1.5.2', '', 'e', '0x10', 'Infinity', 'NaN', '360.001', '1e999', '-361'])('%j is refused', (text) =>
  expect(parseNumber(text, -360, 360)).toBe(`got ${text ? `"${text}"` : 'nothing'}, need a number from -360 to 360, such as 1.5`));
