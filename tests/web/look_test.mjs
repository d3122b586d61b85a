// What the page of `sinew view` draws beside the shape itself. Run by run.sh.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {bend, bin, count, different, folder, isClay, keep, live, open, page, pixels, press, recipe, settled, text, type, useBrowser, view} from './browser.mjs';
import {glb, painted} from './character.mjs';

useBrowser();

// Pixels [from, to) of the width of a picture.
function part({width, height, data}, from, to) {
  const [left, right] = [Math.round(from * width), Math.round(to * width)];
  const rows = Array.from({length: height}, (_, y) => data.subarray((y * width + left) * 4, (y * width + right) * 4));
  return {width: right - left, height, data: Buffer.concat(rows)};
}

const isFlesh = (r, g, b) => r > 50 && r > 1.4 * g && r > 1.25 * b && r < 200;
const isTurquoise = (r, g, b) => g > 1.6 * r && b > 1.6 * r && b > 60;
const isGreen = (r, g, b) => g > 1.5 * r && g > 1.1 * b && g > 60;

test('two recipes stand side by side with one camera', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'lbs');
  await open(line);
  await bend();
  await press('4');
  await live(1);
  await settled();
  assert.deepEqual([await text('name-a'), await text('name-b')], ['lbs', 'lbs']);
  const same = await pixels();
  const [left, right] = [part(same, 0, 0.5), part(same, 0.5, 1)];
  assert.ok(count(left, isClay) > 0.04 * left.width * left.height, 'the hand is on the left');
  const beside = {from: 4, tolerance: 24}; // the line between them, and noise of shadows
  assert.ok(different(left, right, beside) < 5, 'and the same hand on the right');
  await type(1, 'ddm(iterations=20)');
  await live(1);
  await settled();
  const two = await pixels();
  assert.equal(different(left, part(two, 0, 0.5)), 0);
  assert.ok(different(right, part(two, 0.5, 1), beside) > 1000, 'the right side has the other recipe');
  await keep('side');
  // A click picks in the panel under it.
  const box = await page.locator('#canvas').boundingBox();
  const clay = [];
  for (let at = 0; at < right.data.length; at += 4) if (isClay(...right.data.subarray(at, at + 3))) clay.push(at / 4);
  const middle = clay[clay.length >> 1];
  const [x, y] = [middle % right.width, Math.floor(middle / right.width)];
  const picked = [];
  for (const offset of [0, box.width / 2]) {
    await page.mouse.click(box.x + offset + x, box.y + y);
    await page.locator('.vertex li').first().waitFor();
    picked.push(await page.locator('.vertex h3').innerText());
    await press('Escape');
  }
  assert.equal(picked[0], picked[1]);
  await press('1');
  await settled();
  assert.ok(different(two, await pixels()) > 1000, 'one recipe has the whole view');
});

test('the gizmo turns a joint in the panel on the right', async () => {
  const {line} = await view('model:arm', '--deformer', 'dqs', 'lbs');
  await open(line);
  await press('4');
  await live(1);
  await page.locator('.joint').nth(1).click();
  await settled();
  const before = await pixels();
  const isYellow = (r, g, b) => r > b + 40 && g > b + 40 && Math.abs(r - g) < 25;
  let at = 0;
  for (let k = 0; k < before.data.length; k += 4) {
    if (k / 4 % before.width > before.width / 2 && isYellow(...before.data.subarray(k, k + 3))) at = k / 4;
  }
  assert.ok(at > 0, 'the ring is drawn on the right');
  const box = await page.locator('#canvas').boundingBox();
  const [x, y] = [box.x + at % before.width, box.y + Math.floor(at / before.width)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 1; step <= 8; step++) await page.mouse.move(x + step * 6, y - step * 2);
  await page.mouse.up();
  await page.locator('.joint.edited').waitFor();
  await settled();
  const after = await pixels();
  for (const [from, to] of [[0, 0.5], [0.5, 1]]) assert.ok(different(part(before, from, to), part(after, from, to)) > 200, 'the arm has turned in both');
});

test('the status of vertices has the numbers of sinew render', async () => {
  const [clip, frame] = ['fist', 24];
  const facts = JSON.parse(execFileSync(path.join(bin, 'sinew'), ['render', 'model:hand', '--deformer', 'implicit_skinning', '--vertex-status', '--clip', clip,
    '--frame', String(frame), '--out', path.join(folder, 'status.png'), '--size', '64x64', '--json', '--local', '--quiet']));
  const {line} = await view('model:hand', '--deformer', 'implicit_skinning', 'lbs', '--clip', clip);
  await open(line);
  await page.getByRole('slider', {name: 'Frame', exact: true}).fill(String(frame));
  await settled();
  await press('i');
  const legend = page.locator('#status-legend');
  await legend.getByText('contact').waitFor();
  await settled();
  const expected = Object.entries(facts.vertex_status[0].counts).filter(([, n]) => n > 0).map(([name, n]) => `${name.replaceAll('_', ' ')} ${n.toLocaleString('en')}`);
  assert.ok(expected.length >= 3, `${expected}`);
  assert.deepEqual((await legend.locator('li').allInnerTexts()).map((line) => line.trim()), expected);
  const shown = await pixels();
  assert.ok(count(shown, (r, g, b) => g > 1.25 * r && b > 1.2 * r && g > 90) > 2000, 'vertices at the level of the rest pose are cyan');
  assert.ok(count(shown, (r, g, b) => r > 120 && r > 1.6 * g && g > b) > 20, 'those in contact are orange');
  await keep('status');
  const waiting = page.waitForEvent('download');
  await press('p');
  const saved = await pixels(readFileSync(await (await waiting).path()));
  const swatch = count(saved, (r, g, b) => r === 130 && g === 225 && b === 215) - count(shown, (r, g, b) => r === 130 && g === 225 && b === 215);
  assert.ok(swatch > 100, `the saved picture has the legend, too: ${swatch} pixels of its colour for the level of the rest pose`);
  await press('4');
  await live(1);
  await legend.getByText('Recipe B has no implicit stage').waitFor();
  await press('i');
  await legend.waitFor({state: 'hidden'});
});

test('muscles are seen through the skin, and move with the pose', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs | muscle');
  await open(line);
  const solid = await pixels();
  assert.equal(count(solid, isFlesh), 0);
  await press('m');
  await settled();
  const seen = await pixels();
  assert.ok(count(seen, isFlesh) > 300, `${count(seen, isFlesh)} pixels of muscles`);
  await keep('muscles');
  await bend();
  await settled();
  await keep('muscles-bent');
  assert.ok(different(seen, await pixels()) > 500);
  assert.ok(count(await pixels(), isFlesh) > 300);
  await page.getByRole('slider', {name: 'Frame', exact: true}).fill('0');
  await press('m');
  await settled();
  assert.ok(different(solid, await pixels()) < 20, 'the skin is solid again');
});

test('normals are lines that leave the skin', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  assert.equal(await page.getByRole('button', {name: 'Muscles', exact: true}).isHidden(), true, 'a rig without muscles has no switch for them');
  const before = await pixels();
  assert.equal(count(before, isGreen), 0);
  await press('n');
  await settled();
  const shown = await pixels();
  await keep('normals');
  assert.ok(count(shown, isGreen) > 1000, `${count(shown, isGreen)} pixels of lines`);
  let outside = 0;
  for (let at = 0; at < shown.data.length; at += 4) {
    if (isGreen(...shown.data.subarray(at, at + 3)) && !isClay(...before.data.subarray(at, at + 3))) outside++;
  }
  assert.ok(outside > 200, `${outside} of them beyond the outline`);
  await bend();
  await settled();
  assert.ok(different(shown, await pixels()) > 1000, 'they follow the pose');
  await press('n');
  await settled();
  assert.equal(count(await pixels(), isGreen), 0);
});

test('the inside of a surface has the colour that sinew render gives it', async () => {
  const {line} = await view('model:cylinder', '--deformer', 'lbs'); // of radius 0.1, from 0 to 1 along y
  await open(`${line}&camera=0+0.5+0.06+0+0.5+0`);
  const {width, height, data} = await pixels();
  await keep('inside');
  assert.ok(count({data}, isTurquoise) > 0.9 * width * height, 'all that is seen is the inside');
  await press('f');
  await settled();
  const outside = await pixels();
  assert.ok(count(outside, isClay) > 2000, 'the outside is clay');
  assert.ok(count(outside, isTurquoise) < 10);
});

test('colours and images of the file are drawn', async () => {
  const file = path.join(folder, 'painted.glb');
  const {document, buffer} = painted();
  writeFileSync(file, glb(document, buffer));
  const {line} = await view(file, '--deformer', 'lbs');
  await open(`${line}&camera=0+0.5+6+0+0.5+0`);
  const clay = await pixels();
  assert.ok(count(clay, isClay) > 2000, 'two squares of clay');
  await press('c');
  await page.waitForFunction(() => document.querySelector('button[aria-pressed=true][title*="(C)"]'));
  await settled();
  await keep('colours');
  const {width, height, data} = await pixels();
  // The colour in a place of the squares, whose size is found by their clay.
  let [left, right, top, bottom] = [width, 0, height, 0];
  for (let at = 0; at < clay.data.length; at += 4) {
    if (different({...clay, data: clay.data.subarray(at, at + 4), width: 1, height: 1}, {data: data.subarray(at, at + 4), width: 1}) === 0) continue;
    const [x, y] = [at / 4 % width, Math.floor(at / 4 / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  const colour = (x, y) => {
    const at = (Math.round(top + y * (bottom - top)) * width + Math.round(left + x * (right - left))) * 4;
    return [...data.subarray(at, at + 3)];
  };
  const strongest = (x, y) => colour(x, y).map((value, _, all) => value > 0.6 * Math.max(...all) ? 1 : 0).join('');
  assert.deepEqual([strongest(0.08, 0.15), strongest(0.42, 0.15), strongest(0.08, 0.85), strongest(0.42, 0.85), strongest(0.75, 0.5)],
    ['100', '010', '001', '111', '101'], 'red and green above blue and white, beside violet');
  await page.waitForTimeout(600);
  assert.match(page.url(), /colours=1/);
});

test('a link restores what is drawn, and the recipe that is not shown', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs', 'dqs');
  await open(line);
  await press('2');
  await type(1, 'dqs | bulge_free');
  await live(1);
  for (const key of ['n', 'm', 'b', '1']) await press(key);
  await settled();
  await page.waitForTimeout(600);
  const before = await pixels();
  const url = page.url();
  assert.match(url, /recipe=lbs&recipe=dqs\+%7C\+bulge_free&clip=/);
  assert.match(url, /bones=1&normals=1&muscles=1/);
  const restored = `${url}&token=${line.split('token=')[1]}`;
  await page.goto('about:blank');
  await open(restored);
  assert.ok(different(before, await pixels()) < 40, 'the picture is the same');
  await press('4');
  await live(1);
  assert.equal(await recipe(1).inputValue(), 'dqs | bulge_free');
  await settled();
  await page.waitForTimeout(600);
  assert.match(page.url(), /view=side/);
  const side = await pixels();
  const again = `${page.url()}&token=${line.split('token=')[1]}`;
  await page.goto('about:blank');
  await open(again);
  await live(1);
  await settled();
  assert.ok(different(side, await pixels()) < 40, 'both panels are the same');
  await page.goto('about:blank');
  await page.goto(`${line}&clip=Jump`);
  await page.locator('#state').getByText('The link names the clip Jump, which this character does not have.').waitFor();
});
