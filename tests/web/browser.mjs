// The page of `sinew view` in Chromium, with real servers: what its tests share.

import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {after, afterEach, before, beforeEach} from 'node:test';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const {chromium} = require('playwright-core');

export const bin = process.env.SINEW_BIN;
export const pictures = process.env.SINEW_SCREENSHOTS;
export const folder = mkdtempSync(path.join(tmpdir(), 'sinew-page-'));
const running = [];
export let browser;
export let page;
export let complaints; // errors of the page, of which a test may have none

// Starts a program and returns the first line of its standard output.
export async function start(program, ...options) {
  const child = spawn(path.join(bin, program), options, {stdio: ['ignore', 'pipe', 'inherit']});
  running.push(child);
  for await (const line of createInterface({input: child.stdout})) return {child, line};
  throw new Error(`${program} ended: ${await once(child, 'exit')}`);
}

export async function stop(child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

export const view = (...options) => start('sinew', 'view', '--no-open', ...options);

// Opens a link and waits for the first shape.
export async function open(link) {
  await page.goto(link);
  await page.waitForFunction(() => document.getElementById('start').hidden, undefined, {timeout: 60000});
  await shown();
  await settled();
}

// A server with a page, and the addresses of both.
export async function web(...options) {
  const {child, line} = await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off', '--web', '0', '--log-format', 'json', ...options);
  const {addresses, web} = JSON.parse(line);
  return {child, address: addresses[0], link: `http://${web}/`};
}

// Waits until the first shape has come.
export const shown = () => page.waitForFunction(() => /\b[AB] [\d.]+ ms/.test(document.getElementById('rates').textContent), undefined, {timeout: 60000});

// Waits until two pictures in a row are the same.
export async function settled() {
  let before = '';
  for (let tries = 0; tries < 60; tries++) {
    await page.waitForTimeout(250);
    const now = (await picture()).toString('base64');
    if (now === before) return;
    before = now;
  }
  assert.fail('the view does not come to rest');
}

// What Playwright would hide or add by a style element, the page's policy refuses.
const PLAIN = {caret: 'initial'};

// The view alone, as PNG.
export async function picture() {
  await page.evaluate(() => {
    window.bare ??= new CSSStyleSheet();
    window.bare.replaceSync('#view > :not(canvas) { visibility: hidden !important; } #canvas { outline: none !important; }');
    document.adoptedStyleSheets = [window.bare];
  });
  const png = await page.locator('#canvas').screenshot(PLAIN);
  await page.evaluate(() => (document.adoptedStyleSheets = []));
  return png;
}

// Pixels of a picture, [height * width * 4].
export async function pixels(png = undefined) {
  const base64 = (png ?? await picture()).toString('base64');
  const {width, height, data} = await page.evaluate(async (text) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const {data} = context.getImageData(0, 0, bitmap.width, bitmap.height);
    let binary = '';
    for (let at = 0; at < data.length; at += 32768) binary += String.fromCharCode(...data.subarray(at, at + 32768));
    return {width: bitmap.width, height: bitmap.height, data: btoa(binary)};
  }, base64);
  return {width, height, data: Buffer.from(data, 'base64')};
}

// Number of pixels in columns [from, to) above row `bottom` of both pictures that differ by more than `tolerance`.
export function different(a, b, {from = 0, to = a.width, bottom = a.height, tolerance = 8} = {}) {
  let count = 0;
  for (let y = 0; y < bottom; y++) {
    for (let x = from; x < to; x++) {
      const at = (y * a.width + x) * 4;
      if ([0, 1, 2].some((c) => Math.abs(a.data[at + c] - b.data[at + c]) > tolerance)) count++;
    }
  }
  return count;
}

// Number of pixels for which `is` holds.
export function count({data}, is) {
  let found = 0;
  for (let at = 0; at < data.length; at += 4) if (is(data[at], data[at + 1], data[at + 2])) found++;
  return found;
}

export const isClay = (r, g, b) => r > g && g > b && r - b > 12 && r - b < 60; // the ground and the background are greyer
export const isHot = (r, g, b) => r > 90 && r > 2 * g && r > 1.4 * b;
export const text = (id) => page.locator(`#${id}`).innerText();
export const keep = async (name) => pictures && page.screenshot({...PLAIN, path: path.join(pictures, `${name}.png`)});
export const recipe = (index) => page.locator('.recipe input[type=text]').nth(index);
export const joint = (name) => page.getByRole('treeitem', {name, exact: true});

export async function type(index, recipeText) {
  await recipe(index).fill(recipeText);
  await recipe(index).press('Enter');
}

// Whether nothing covers an element.
export const bare = (id) => page.locator(`#${id}`).evaluate((element) => {
  const {left, top, width, height} = element.getBoundingClientRect();
  return [0.05, 0.3, 0.5, 0.7, 0.95].every((x) => [0.2, 0.5, 0.8].every((y) => element.contains(document.elementFromPoint(left + x * width, top + y * height))));
});

export const live = (index = 0) => page.locator('.recipe').nth(index).getByText(/^Bound data/).waitFor({timeout: 60000});

export async function press(key) {
  await page.locator('#canvas').focus();
  await page.keyboard.press(key);
}

// The frame in the middle of the clip: its ends are the rest pose.
export const bend = () => page.getByRole('slider', {name: 'Frame', exact: true}).fill('12');

// Chromium without a graphics card.
export const launch = () => chromium.launch({executablePath: process.env.SINEW_CHROMIUM,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']});

// Replaces the page of the test by one of another browser window.
export async function newPage(options = {}) {
  await page?.context().close();
  const context = await browser.newContext({viewport: {width: 1100, height: 640}, colorScheme: 'light', acceptDownloads: true,
    permissions: ['clipboard-read', 'clipboard-write'], ...options});
  page = await context.newPage();
  page.setDefaultTimeout(30000);
  page.on('pageerror', (error) => complaints.push(error.stack));
  page.on('console', (message) => message.type() === 'error' && !/Failed to load resource/.test(message.text()) && complaints.push(message.text()));
}

// What the functions here act on from now on.
export function usePage(other) {
  page = other;
}

// Draws nothing while window.blind is true: without a graphics card, drawing would take most of the time.
export const canBeBlind = (page) => page.addInitScript(() => {
  for (const name of ['drawElements', 'drawArrays']) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...how) {
      if (!window.blind) draw.apply(this, how);
    };
  }
});

// Gives each test of a file a page of its own, and ends what it started.
export function useBrowser() {
  before(async () => {
    if (pictures) mkdirSync(pictures, {recursive: true});
    browser = await launch();
  });

  beforeEach(async () => {
    complaints = [];
    await newPage();
  });

  afterEach(async () => {
    await page.context().close();
    await Promise.all(running.splice(0).map((child) => stop(child)));
    assert.deepEqual(complaints, []);
  });

  after(async () => {
    await browser.close();
    rmSync(folder, {recursive: true});
  });
}
