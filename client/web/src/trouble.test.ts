import {expect, test} from 'vitest';
import {troubleText} from './trouble.ts';
import {CallError, NOT_FOUND, UNAUTHENTICATED, UNAVAILABLE} from './wire.ts';

const gone = (message: string, reason = '') => troubleText(null, new CallError(UNAVAILABLE, message, reason), 0);

test('is empty while all is well', () => expect(troubleText(null, null, 1.9)).toBe(''));

test('says what has ended', () => {
  expect(gone('failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:50051: Failed to connect to remote host: Connection refused'))
    .toMatch(/^The service has ended: nothing listens at 127\.0\.0\.1:50051\. The last shape is shown; trying again …$/);
  expect(gone('Socket closed')).toMatch(/^The service has ended, or the line to it is broken\. /);
  expect(gone('server: draining, try another', 'DRAINING')).toMatch(/^The service is shutting down\. /);
  expect(gone('The server ended the call.')).toMatch(/^The service has ended, or the line to it is broken\. /);
  expect(troubleText(null, new CallError(NOT_FOUND, 'rigs/x: no such rig on this server'), 0)).toMatch(/^The service was started again/);
  expect(gone('sessions: got 5, need fewer')).toMatch(/^sessions: got 5, need fewer\. The last shape/);
});

test('says how long there was no answer', () => expect(troubleText(null, null, 3.4)).toMatch(/has not answered for 3 s\./));

test('says of a program that ended that its next link is another', () => {
  expect(troubleText(new CallError(UNAVAILABLE, 'x'), null, 0)).toMatch(/^The program behind this page .* open the link that it prints\.$/);
  expect(troubleText(new CallError(UNAUTHENTICATED, 'Open the link.'), null, 0)).toBe('Open the link.');
});
