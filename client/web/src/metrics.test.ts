import {expect, test} from 'vitest';
import {curvePath, METRICS, worstFrame} from './metrics.ts';

test('the worst frame is the first with the largest or smallest value', () => {
  expect(worstFrame(Float64Array.of(1, 3, 3, NaN))).toBe(1);
  expect(worstFrame(Float64Array.of(NaN, 3, 2, 2), true)).toBe(2);
  expect(worstFrame(Float64Array.of(NaN, NaN))).toBe(-1);
});

test('a curve has a gap where a value is not defined', () => {
  expect(curvePath(Float64Array.of(0, 1, NaN, 1, 0), 0, 1)).toBe('M0.00 100.00L250.00 0.00M750.00 0.00L1000.00 100.00');
  expect(curvePath(Float64Array.of(NaN, 1, NaN), 0, 2)).toBe('M500.00 50.00h0.01');
  expect(curvePath(Float64Array.of(4), 4, 4)).toBe('M0 100.00H1000');
});

test('values read as those of sinew compare', () => {
  const text = (label: string, value: number) => METRICS.find((metric) => metric.label === label)!.text(value);
  expect(text('volume', 0.98765)).toBe('98.77');
  expect(text('overlap', 0.00012)).toBe('0.012');
  expect(text('jerk', 0.000123456)).toBe('0.0001235');
  expect(text('crossings', 12)).toBe('12');
});
