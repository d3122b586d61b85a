// Metrics on the page of `sinew view`, beside those of `sinew compare`. Run by run.sh.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {test} from 'node:test';
import {bin, keep, live, open, page, press, type, useBrowser, view} from './browser.mjs';

useBrowser();

const measured = () => page.locator('.metrics').waitFor({timeout: 120000});
const start = () => page.getByRole('button', {name: 'Measure clip', exact: true}).click();
const row = (label) => page.locator('.metrics tbody tr').filter({has: page.getByRole('button', {name: label, exact: true})}).first();
const frame = async () => Number((await page.locator('output.frame').innerText()).split(' /')[0]);

test('metrics are those of sinew compare, and a click leads to the worst frame', async () => {
  const recipes = ['lbs', 'dqs | bulge_free'];
  const {methods} = JSON.parse(execFileSync(path.join(bin, 'sinew'), ['compare', 'model:arm', '--deformers', ...recipes, '--json', '--local', '--quiet']));
  const {line} = await view('model:arm', '--deformer', ...recipes);
  await open(line);
  await press('2');
  await live(1);
  await page.getByRole('checkbox', {name: /crossings and overlap/}).check();
  await start();
  await measured();
  const names = {volume: 'volume_ratio', thickness: 'minimum_thickness', bulge: 'bulge', 'edges rms': 'edge_distortion', 'worst edge': 'worst_edge',
    'areas rms': 'area_distortion', flipped: 'flipped_fraction', 'beyond lbs': 'flipped_beyond_linear', crossings: 'self_intersections',
    overlap: 'overlap', roughness: 'roughness', 'over 1': 'rough_fraction', jerk: 'jerk', pop: 'pop'};
  let compared = 0;
  for (const at of [0, 9, 12]) {
    await page.getByRole('slider', {name: 'Frame', exact: true}).fill(String(at));
    const rows = await page.locator('.metrics tbody tr').evaluateAll((all) =>
      all.map((tr) => [tr.querySelector('th button').textContent, [...tr.querySelectorAll('data')].map(({value}) => Number(value))]));
    const shown = Object.fromEntries(rows);
    for (const [label, key] of Object.entries(names)) {
      methods.forEach(({frames}, k) => {
        const expected = frames[at][key];
        if (expected === null) return assert.ok(!(label in shown) || Number.isNaN(shown[label][k]), `${label} of frame ${at} is not defined`);
        assert.equal(shown[label]?.[k], expected, `${label} of ${recipes[k]} in frame ${at}`);
        compared++;
      });
    }
  }
  assert.ok(compared > 70, `${compared} values`);
  const volumes = methods[0].frames.map((each) => each.volume_ratio);
  const worst = volumes.indexOf(Math.min(...volumes));
  assert.ok(worst > 0, 'the worst frame is not the first');
  await page.getByRole('slider', {name: 'Frame', exact: true}).fill('0');
  await row('volume').getByRole('button').nth(1).click();
  assert.equal(await frame(), worst);
  assert.equal(Number(await row('volume').locator('data').first().getAttribute('value')), Math.min(...volumes));
  await keep('metrics');
});

test('the curve is a slider over the clip, with a table of its numbers', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'ddm(iterations=20)');
  await open(line);
  await press('2');
  await live(1);
  await start();
  await measured();
  assert.equal(await row('crossings').count(), 0, 'the slow part was not asked for');
  await row('distance rms').getByRole('button', {name: 'distance rms', exact: true}).click();
  const curve = page.getByRole('slider', {name: 'Frame, with distance rms', exact: true});
  const box = await curve.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.equal(await frame(), 24);
  assert.match(await curve.getAttribute('aria-valuetext'), /^frame 24: A –, B [\d.]+ (mm|cm)$/);
  await page.keyboard.press('ArrowRight');
  assert.equal(await frame(), 25);
  await page.keyboard.press('Home');
  assert.equal(await frame(), 0);
  assert.equal(await page.locator('.curve .line.a').getAttribute('d'), '', 'a distance is that of B');
  assert.match(await page.locator('.curve .line.b').getAttribute('d'), /^M0\.00 100\.00L/);
  await page.getByText('Every frame').click();
  await page.locator('.metrics details tbody tr').nth(47).waitFor();
  assert.equal(await page.locator('.metrics details tbody tr').count(), 48);
  await keep('curve');
  // The heat map measures the same two shapes, from 16 bits a coordinate.
  await row('distance').getByRole('button').nth(1).click();
  await press('3');
  const heat = page.locator('#legend-title');
  await heat.waitFor();
  const shown = await row('distance').locator('data').nth(1).innerText();
  await page.waitForFunction(([largest]) => {
    const found = /largest ([\d.]+) (mm|cm)/.exec(document.getElementById('legend-title').textContent);
    return found && Math.abs(found[1] / largest - 1) < 0.01;
  }, [parseFloat(shown)]);
});

test('a measurement is cancelled, and belongs to its recipes', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  await page.getByRole('checkbox', {name: /crossings and overlap/}).check();
  await start();
  await page.getByRole('button', {name: 'Cancel', exact: true}).click();
  await page.getByText('Cancelled: nothing is kept.').waitFor();
  assert.equal(await page.locator('.metrics').isHidden(), true);
  await page.getByRole('checkbox', {name: /crossings and overlap/}).uncheck();
  await start();
  await measured();
  assert.equal(await page.locator('.metrics thead th').filter({visible: true}).count(), 2, 'recipe A alone');
  await type(0, 'dqs');
  await live();
  await page.getByText('have changed: measure again').waitFor();
  assert.equal(await page.locator('.metrics').isHidden(), true);
  await type(0, 'lbs');
  await measured();
});
