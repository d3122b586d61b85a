import {expect, test} from 'vitest';
import {readLink, START, writeLink, type LinkState} from './link.ts';

const full: LinkState = {
  rig: 'rigs/sha256-12', recipes: ['ddm(radius=0.03) | relax', 'dqs & <b>'], view: 'side', wipe: 0.25, clip: 'Run #1', frame: 17, joint: 'left arm', weights: true,
  vertex: 42, flat: true, edges: true, bones: true, normals: true, muscles: true, status: true, colours: true, camera: [1, 2, 3.5, -4, 0, 6e-7], edits: '[[[1,0,0,0,1,0,0,0]],[[0,0.5]]]', follow: '',
};

test('a link restores all that it was made from', () => {
  expect(readLink(`#${writeLink(full)}`)).toEqual({state: full, token: null, clipGiven: true});
});

test('a link to the start has the rest pose', () => {
  expect(writeLink(START)).toBe('clip=');
  expect(readLink('')).toEqual({state: START, token: null, clipGiven: false});
});

test('a link to follow a stream names it', () => {
  expect(writeLink({...START, follow: 'hand-3fa2'})).toBe('follow=hand-3fa2');
  expect(readLink('#follow=hand-3fa2&token=abc').state.follow).toBe('hand-3fa2');
});

test('the token is read and never written', () => {
  const {state, token} = readLink('#token=abc&recipe=lbs');
  expect(token).toBe('abc');
  expect(writeLink(state)).toBe('recipe=lbs&clip=');
});

test('what is malformed is as at the start', () => {
  const {state} = readLink('#view=x&wipe=no&frame=-3&camera=1+2&flat=yes&vertex=1e99&recipe=a&recipe=b&recipe=c');
  expect(state).toEqual({...START, vertex: 1e9, recipes: ['a', 'b']});
  expect(readLink('#camera=1+2+3+1+2+3').state.camera).toEqual([]); // looks nowhere
});
