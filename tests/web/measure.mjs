// How fast the page of `sinew view` is, without drawing; judges nothing. Run by run.sh.

import {readdirSync, readFileSync, rmSync} from 'node:fs';
import path from 'node:path';
import {canBeBlind, folder, launch, start, stop} from './browser.mjs';
import {writeTube} from './character.mjs';

const SECONDS = 6;
const TICKS = 100; // of a second of CPU time in /proc

// All processes, with their CPU time in ms; `drawing`: the one of a browser that stands for the graphics card.
function processes() {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const drawing = readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--type=gpu-process');
      return [{pid: Number(pid), parent: Number(fields[1]), drawing, time: (Number(fields[11]) + Number(fields[12])) * 1000 / TICKS}];
    } catch {
      return []; // it has ended
    }
  });
}

// Times of the server, of `sinew view`, of the browser, which are all other processes below this one, and of its drawing.
function times(server, viewer) {
  const all = processes();
  const below = new Set([process.pid]);
  for (let size = 0; size < below.size;) {
    size = below.size;
    for (const {pid, parent} of all) if (below.has(parent)) below.add(pid);
  }
  const own = [process.pid, server?.pid, viewer.pid];
  const sum = (is) => all.filter(is).reduce((total, {time}) => total + time, 0);
  const browser = ({pid}) => below.has(pid) && !own.includes(pid);
  return [sum(({pid}) => pid === server?.pid), sum(({pid}) => pid === viewer.pid), sum((one) => browser(one) && !one.drawing),
    sum((one) => browser(one) && one.drawing)];
}

const median = (list, part = 0.5) => [...list].sort((a, b) => a - b)[Math.floor((list.length - 1) * part)];

async function measure(browser, file, alone) {
  const server = alone ? await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off') : null;
  const context = await browser.newContext({viewport: {width: 1100, height: 640}});
  const page = await context.newPage();
  await canBeBlind(page);
  await page.addInitScript(() => {
    window.blind = true;
    WebGL2RenderingContext.prototype.clear = () => {};
    const animation = window.requestAnimationFrame;
    const queue = [];
    const {port1, port2} = new MessageChannel();
    port1.onmessage = () => queue.shift()(performance.now());
    window.requestAnimationFrame = (act) => window.fast ? (queue.push(act), port2.postMessage(0)) : animation(act);
  });
  const began = performance.now();
  const {child: viewer, line} = await start('sinew', 'view', '--no-open', file, '--deformer', 'lbs', '--fps', '1000',
    ...(server ? ['--server', server.line.split('listening on ')[1].trim()] : []));
  const linked = performance.now();
  await page.goto(line);
  await page.waitForFunction(() => document.getElementById('start').hidden && /\b[AB] [\d.]+ ms/.test(document.getElementById('rates').textContent));
  const first = performance.now();
  const rates = () => page.locator('#rates').textContent();
  const play = async () => {
    const [rate, delay, sizes] = [[], [], []];
    await page.waitForTimeout(1500);
    const before = times(server?.child, viewer);
    for (let k = 0; k < SECONDS * 2; k++) {
      await page.waitForTimeout(500);
      const text = await rates();
      rate.push(Number(/(\d+) frames\/s/.exec(text)[1]));
      delay.push(Number(/delay (\d+) ms/.exec(text)[1]));
      sizes.push(Number(/([\d.]+) MB\/s/.exec(text)[1]));
    }
    const after = times(server?.child, viewer);
    const frames = rate.reduce((sum, r) => sum + r / 2, 0);
    return {rate: median(rate), delay: [median(delay), median(delay, 0.9)], cpu: after.map((time, k) => (time - before[k]) / frames)};
  };
  await page.locator('#canvas').focus();
  await page.keyboard.press(' ');
  const display = await play();
  await page.evaluate(() => (window.fast = true));
  const most = await play();
  await context.close();
  await stop(viewer);
  if (server) await stop(server.child);
  const ms = (x) => x.toFixed(x < 9.95 ? 1 : 0);
  const [deform, ...rest] = display.cpu;
  return [alone ? 'sinewd' : 'sinew view', display.rate, display.delay.join(' (') + ')', alone ? ms(deform) : '', ...rest.map(ms),
    most.rate, ((linked - began) / 1000).toFixed(1), ((first - linked) / 1000).toFixed(1)];
}

const browser = await launch();
console.log(`| vertices | deformed in | frames/s of 60 | delay, median (90 %), ms | CPU a frame, ms: sinewd | sinew view | browser | its drawing | frames/s at most | s to the link | s from there to the picture |
|---|---|---|---|---|---|---|---|---|---|---|`);
try {
  for (const vertices of process.argv.length > 2 ? process.argv.slice(2).map(Number) : [20000, 200000]) {
    const file = path.join(folder, `${vertices}.glb`);
    writeTube(file, {rings: vertices / 100, segments: 100, joints: 52});
    for (const alone of [true, false]) console.log(`| ${vertices} | ${(await measure(browser, file, alone)).join(' | ')} |`);
  }
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
