// The page of `sinew view` over slow lines and with servers that fail, in Chromium. Run by run.sh.

import assert from 'node:assert/strict';
import path from 'node:path';
import {test} from 'node:test';
import {bend, canBeBlind, different, folder, keep, newPage, open, page, pixels, press, recipe, settled, start, stop, type, useBrowser, view} from './browser.mjs';
import {writeTube} from './character.mjs';
import {slowLine} from './slow_line.mjs';

useBrowser();

const rates = async () => {
  const text = await page.locator('#rates').textContent();
  const number = (pattern) => Number(pattern.exec(text)[1]);
  return {shown: number(/(\d+) frames\/s/), leftOut: number(/(\d+) left out/), delay: number(/delay (\d+) ms/)};
};

test('over 10 Mbit/s with 100 ms, poses are left out and the delay stays small', async () => {
  const line = await slowLine({bits: 10e6, seconds: 0.05});
  try {
    const file = path.join(folder, 'slow.glb');
    writeTube(file, {rings: 201, segments: 100, joints: 52});
    const {line: link} = await view(file, '--deformer', 'lbs');
    await newPage({proxy: {server: line.proxy}});
    await canBeBlind(page);
    await open(link);
    await page.evaluate(() => (window.blind = true));
    await press(' ');
    await page.waitForTimeout(4000);
    const seen = [];
    for (let k = 0; k < 12; k++) {
      await page.waitForTimeout(500);
      seen.push({...await rates(), held: line.held()});
    }
    const sum = (key) => seen.reduce((total, one) => total + one[key], 0) / seen.length;
    // A frame of 20,100 vertices takes 0.13 s of the line, and two may be on their way.
    assert.ok(sum('shown') >= 4 && sum('shown') <= 10, `${sum('shown')} frames/s`);
    assert.ok(sum('leftOut') >= 10, `${sum('leftOut')} left out`);
    assert.ok(Math.max(...seen.map(({delay}) => delay)) < 1000, 'no queue grows');
    await keep('slow-line');
    await page.evaluate(() => (window.blind = false));
    await press(' ');
    await settled();
    const before = await pixels();
    await page.locator('.joint').nth(2).click();
    await page.getByRole('spinbutton', {name: /^Turn z/}).fill('60');
    await page.keyboard.press('Enter');
    await page.waitForTimeout(1500);
    assert.ok(different(before, await pixels()) > 500, 'an edit appears at once');
  } finally {
    line.close();
  }
});

// A server with the hand before it; `address` is that of the server.
async function served(...options) {
  const {child, line} = await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off', ...options);
  const address = line.split('listening on ')[1].trim();
  await open((await view('model:hand', '--deformer', 'lbs', '--server', address)).line);
  return {child, address};
}

test('a server that drains while a clip plays says so, and the clip goes on with the next', async () => {
  const {child, address} = await served();
  await press(' ');
  await page.waitForFunction(() => parseInt(document.getElementById('rates').textContent) >= 1);
  const said = page.locator('#state').getByText(/^The service (is shutting down|has ended).* The last shape is shown; trying again …$/).waitFor();
  child.kill('SIGTERM');
  await said;
  await keep('drain-in-play');
  await stop(child);
  await page.waitForFunction(() => parseInt(document.getElementById('rates').textContent) === 0);
  await page.waitForTimeout(4000);
  const began = performance.now();
  await start('sinewd', '--listen', address, '--http', 'off');
  await page.waitForFunction(() => parseInt(document.getElementById('rates').textContent) >= 1, undefined, {timeout: 60000});
  await page.locator('#state').waitFor({state: 'hidden'});
  const seconds = (performance.now() - began) / 1000;
  assert.ok(seconds < 20, `${seconds} s`);
  console.log(`goes on ${seconds.toFixed(1)} s after the start of the server`);
});

test('a server that ends and stays away is named', async () => {
  const {child, address} = await served();
  await stop(child, 'SIGKILL');
  await page.locator('#state').getByText(`The service has ended: nothing listens at ${address}. The last shape is shown; trying again …`).waitFor();
  await keep('server-gone');
});

test('a limit of the server is shown, and can be tried again', async () => {
  await served('--max-sessions', '1');
  const before = await pixels();
  await press('2');
  const second = page.locator('.recipe').nth(1);
  await second.locator('.error').getByText(/sessions/).waitFor();
  await keep('limit');
  const again = page.waitForRequest(/CreateSession/);
  await second.getByRole('button', {name: 'Try again'}).click();
  await again;
  await second.locator('.error').getByText(/sessions/).waitFor();
  await press('1');
  await settled();
  assert.ok(different(before, await pixels()) < 20, 'the first recipe is still shown');
});

test('a bind that takes long can be cancelled', async () => {
  const file = path.join(folder, 'long.glb');
  writeTube(file, {rings: 1001, segments: 100, joints: 20});
  await open((await view(file, '--deformer', 'lbs')).line);
  const before = await pixels();
  const progress = page.locator('.recipe progress').first();
  await page.evaluate(() => { // at once: the bind may take less time than a click of the test
    const observer = new MutationObserver(() => {
      const [button] = [...document.querySelectorAll('.recipe:not(.measure) button')].filter((one) => !one.hidden && one.textContent === 'Cancel');
      if (!button) return;
      observer.disconnect();
      window.seen = document.querySelector('.recipe .state').textContent;
      button.click();
    });
    observer.observe(document.querySelector('.recipe'), {subtree: true, childList: true, attributes: true});
  });
  const deleted = page.waitForRequest(/DeleteSession/);
  await type(0, 'implicit_skinning');
  await deleted;
  assert.match(await page.evaluate(() => window.seen), /^Binding … \d+ %$/);
  assert.equal(await recipe(0).inputValue(), 'lbs');
  await page.getByRole('button', {name: 'Cancel'}).waitFor({state: 'hidden'});
  assert.equal(await progress.isHidden(), true);
  await bend();
  await settled();
  assert.ok(different(before, await pixels()) > 500, 'the recipe before goes on');
});
