import {expect, test} from 'vitest';
import {VertexStatus} from '@proto/frame_pb';
import {STATUS, statusColours, statusCounts} from './status.ts';

test('each status of the protocol has its name', () => {
  const names = Object.keys(VertexStatus).filter((key) => Number.isNaN(Number(key)));
  expect(STATUS.slice(0, -1).map(({name}) => name.toUpperCase().replaceAll(' ', '_'))).toEqual(names);
});

test('a status of a newer server is counted and coloured as unknown', () => {
  const status = Uint8Array.of(1, 11, 200, 1);
  expect(statusCounts(status)).toEqual([0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
  expect([...statusColours(status).subarray(0, 12)]).toEqual([60, 170, 70, 0, 255, 0, 255, 0, 255, 0, 255, 0]);
});
