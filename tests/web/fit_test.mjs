// Whether everyone can use the page of `sinew view`: small windows, touch, keyboard, contrast. Run by run.sh.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {test} from 'node:test';
import {bare, count, different, folder, isClay, joint, keep, live, newPage, open, page, pixels, press, settled, type, useBrowser, view} from './browser.mjs';
import {writeTube} from './character.mjs';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

useBrowser();

// Controls that cannot be brought to where a pointer hits them, and what sticks out at the side.
const unreachable = () => page.evaluate(() => {
  const faults = [];
  for (const element of document.querySelectorAll('button, input, select, summary, [role=tree], [role=slider]')) {
    if (!element.checkVisibility()) continue;
    element.scrollIntoView({block: 'center'});
    const {left, right, top, bottom} = element.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    if (left < 0 || right > innerWidth || !hit || !(element.contains(hit) || hit.contains(element) && hit.matches('label'))) {
      faults.push(`${element.tagName} ${element.id || element.ariaLabel || element.textContent}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('the page');
  scrollTo(0, 0);
  return faults;
});

// The middle of the pixels for which `is` holds in the longest run of a row, in pixels of the page.
async function find(is) {
  const {width, data} = await pixels();
  const box = await page.locator('#canvas').boundingBox();
  const scale = width / box.width;
  let [run, best, at] = [0, 0, 0];
  for (let k = 0; k < data.length; k += 4) {
    run = is(data[k], data[k + 1], data[k + 2]) ? run + 1 : 0;
    if (run > best) [best, at] = [run, k / 4 - run / 2];
  }
  return [box.x + at % width / scale, box.y + Math.floor(at / width) / scale];
}

test('400 x 800 with fingers: turn, pinch, tap, gizmo, and every control', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'dqs');
  await newPage({viewport: {width: 400, height: 800}, hasTouch: true, isMobile: true});
  await open(line);
  const devtools = await page.context().newCDPSession(page);
  const touch = async (...fingers) => { // each from one point to another
    const at = (part) => fingers.map(([x, y, toX, toY], id) => ({x: x + (toX - x) * part, y: y + (toY - y) * part, id}));
    await devtools.send('Input.dispatchTouchEvent', {type: 'touchStart', touchPoints: at(0)});
    for (let step = 1; step <= 8; step++) await devtools.send('Input.dispatchTouchEvent', {type: 'touchMove', touchPoints: at(step / 8)});
    await devtools.send('Input.dispatchTouchEvent', {type: 'touchEnd', touchPoints: []});
    await settled();
  };
  const first = await pixels();
  await touch([60, 520, 140, 520]);
  const turned = await pixels();
  assert.ok(different(first, turned) > 1000, 'a finger turns the view');
  await touch([180, 300, 120, 300], [220, 300, 280, 300]);
  assert.ok(count(await pixels(), isClay) > 1.3 * count(turned, isClay), 'two fingers come nearer');
  await page.touchscreen.tap(...await find(isClay));
  const chosen = page.locator('.joint[aria-selected=true]');
  await chosen.waitFor();
  await settled();
  const before = await pixels();
  const [x, y] = await find((r, g, b) => r > b + 40 && g > b + 40 && Math.abs(r - g) < 25);
  await touch([x, y, x + 60, y - 20]);
  await page.locator('.joint.edited').waitFor({state: 'attached'});
  assert.ok(different(before, await pixels()) > 300, 'a finger turns the joint');
  await page.getByRole('button', {name: 'Wipe', exact: true}).tap();
  await live(1);
  await keep('fit-400');
  for (const name of ['name-a', 'name-b']) assert.equal(await bare(name), true, 'the footer does not cover the names of the recipes');
  assert.deepEqual(await unreachable(), []);
});

test('the tools of the view are whole, and in front of the border of a wipe', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs', 'dqs');
  await open(line);
  await press('2');
  await live(1);
  for (const width of [320, 420, 700, 1000, 1100, 1300]) {
    await page.setViewportSize({width, height: 640});
    await settled();
    await keep(`fit-tools-${width}`);
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#view-tools button')].filter((button) => {
      if (!button.checkVisibility()) return false;
      const {left, right, top, bottom} = button.getBoundingClientRect();
      return [0.1, 0.3, 0.5, 0.7, 0.9].some((x) => !button.contains(document.elementFromPoint(left + x * (right - left), (top + bottom) / 2)));
    }).map((button) => button.textContent)), [], `${width} pixels wide`);
  }
});

test('at 200 % in a small window, every control can be reached and the legend is seen', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'dqs');
  await newPage({viewport: {width: 550, height: 320}, deviceScaleFactor: 2});
  await open(line);
  await press('3');
  await press('PageDown');
  await page.locator('#legend').waitFor();
  await settled();
  await joint('wrist').click();
  assert.deepEqual(await unreachable(), []);
  const covered = await page.evaluate(() => {
    document.getElementById('legend').scrollIntoView({block: 'center'});
    const box = (id) => document.getElementById(id).getBoundingClientRect();
    return Math.min(box('legend').bottom, innerHeight) - Math.max(box('legend').top, box('view-tools').bottom) < box('legend').height - 1 ||
      getComputedStyle(document.querySelector('footer')).position === 'sticky' && document.querySelector('footer').getBoundingClientRect().top < box('legend').bottom;
  });
  await keep('fit-200');
  assert.equal(covered, false);
});

test('400 joints: found by name, kept in view, chosen by arrow keys', async () => {
  const file = path.join(folder, 'joints.glb');
  writeTube(file, {rings: 401, segments: 12, joints: 400});
  const {line} = await view(file, '--deformer', 'lbs');
  await open(line);
  const find = page.getByLabel('Find a joint');
  await find.fill('joint_39');
  assert.equal(await page.locator('.joint:visible').count(), 11);
  await joint('joint_395').click({position: {x: 200, y: 8}}); // its name, not the mark that closes it
  await find.fill('');
  const row = page.locator('.joint[aria-selected=true]');
  const shown = () => row.evaluate((element) => {
    const [inner, outer] = [element.getBoundingClientRect(), element.parentElement.getBoundingClientRect()];
    return inner.top >= outer.top && inner.bottom <= outer.bottom;
  });
  assert.equal(await shown(), true, 'the joint is in view without the filter');
  await page.locator('.tree').focus();
  for (let k = 0; k < 30; k++) await page.keyboard.press('ArrowUp');
  assert.equal(await row.textContent(), 'joint_365'); // innerText is empty until the row is drawn
  assert.equal(await shown(), true);
  await page.keyboard.press('Escape');
  assert.equal(await row.count(), 0);
});

test('Tab reaches every control, and its focus is seen', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs', 'dqs | bulge_free');
  await open(line);
  await press('2');
  await live(1);
  await joint('forearm').click();
  await page.evaluate(() => {
    window.wanted = new Set([...document.querySelectorAll('button, input, select, summary, [tabindex="0"]')]
      .filter((element) => element.checkVisibility() && !element.disabled));
    document.activeElement.blur();
  });
  const invisible = [];
  for (let k = 0; k < 120; k++) {
    await page.keyboard.press('Tab');
    invisible.push(...await page.evaluate(() => {
      const element = document.activeElement;
      window.wanted.delete(element);
      const {outlineStyle, outlineWidth} = getComputedStyle(element);
      return element === document.body || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) ? [] : [element.outerHTML.slice(0, 80)];
    }));
  }
  assert.deepEqual(invisible, []);
  assert.deepEqual(await page.evaluate(() => [...window.wanted].map((element) => element.outerHTML.slice(0, 80))), []);
});

for (const colorScheme of ['light', 'dark']) {
  test(`axe finds no serious fault in any panel or dialog, ${colorScheme}`, async () => {
    const {child, line} = await view('model:arm', '--deformer', 'lbs | muscle', 'ddm');
    await newPage({colorScheme, reducedMotion: 'reduce'});
    const check = async (name) => {
      await keep(`axe-${colorScheme}-${name}`);
      await page.evaluate(AXE); // not a script element, which the page's policy would refuse
      const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
      assert.deepEqual(violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
        .map(({id, nodes}) => `${id}: ${nodes.map(({target}) => target).join(', ')}`), [], name);
    };
    await page.goto(line.replace(/token=.*/, ''));
    await page.locator('#start-text').getByText(/token/).waitFor();
    await check('start');
    await open(line);
    assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
    await check('first');
    await press('3');
    await page.locator('#legend').waitFor();
    await page.mouse.click(...await find(isClay));
    await page.locator('.vertex').waitFor();
    await page.getByRole('spinbutton', {name: /^Turn x/}).fill('1,5');
    await page.keyboard.press('Enter');
    await type(0, 'lbs(max_influences=');
    await page.locator('.recipe .error').first().waitFor();
    for (const summary of await page.locator('details:not([open]) summary:visible').all()) await summary.click();
    await check('heat, vertex, errors, sliders');
    await press('?');
    await page.getByRole('dialog').waitFor();
    await check('help');
    await page.keyboard.press('Escape');
    child.kill('SIGKILL');
    await page.locator('#state.trouble').waitFor();
    await check('trouble');
  });
}
