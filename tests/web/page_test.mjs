// The page of `sinew view` in Chromium, with real servers. Run by run.sh.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {bare, bend, bin, browser, complaints, count, different, folder, isClay, isHot, joint, keep, live, newPage, open, page, pictures, pixels, press, recipe, settled, shown, start, stop,
  text, type, useBrowser, usePage, view, web} from './browser.mjs';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

useBrowser();

test('the page takes less than 400 kB', () => {
  const files = readdirSync(path.join(bin, '../share/sinew/web'), {recursive: true, withFileTypes: true}).filter((file) => file.isFile());
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(path.join(file.parentPath ?? file.path, file.name))).length, 0);
  assert.ok(bytes < 400000, `${bytes} bytes`);
});

test('a character is shown, its token is not', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const shown = await pixels();
  assert.ok(count(shown, isClay) > 0.04 * shown.width * shown.height, 'the hand is drawn');
  assert.doesNotMatch(page.url(), /token/);
  assert.equal(await text('label'), 'model:hand');
  assert.match(await text('rates'), /9,140 vertices/);
  await keep('hand');
  await press('s');
  await settled();
  const flat = await pixels();
  assert.ok(different(shown, flat) > 300, 'flat shading differs');
  await press('w');
  await settled();
  assert.ok(different(flat, await pixels(), {tolerance: 24}) > 2000, 'edges are drawn');
});

test('the shader decodes as frame.proto defines', async () => {
  const source = readFileSync(new URL('../../client/web/src/skin.ts', import.meta.url), 'utf8');
  const decode = /export const DECODE = `([^`]*)`/.exec(source)[1];
  const {worst, wrong} = await page.evaluate((decode) => {
    const gl = new OffscreenCanvas(1, 1).getContext('webgl2');
    const program = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, `#version 300 es
      ${decode}
      in vec3 q; in vec2 n; out vec3 position; out vec3 normal;
      void main() { position = positionOf(q); normal = normalOf(n); gl_Position = vec4(0.0); }`],
    [gl.FRAGMENT_SHADER, '#version 300 es\nvoid main() {}']]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.transformFeedbackVaryings(program, ['position', 'normal'], gl.INTERLEAVED_ATTRIBS);
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    const points = 255 * 255; // all normals
    const q = Uint16Array.from({length: points * 3}, (_, k) => k * 40503 % 65536);
    const n = Int8Array.from({length: points * 2}, (_, k) => (k % 2 ? Math.floor(k / 510) : (k >> 1) % 255) - 127);
    [[q, 'q', 3, gl.UNSIGNED_SHORT], [n, 'n', 2, gl.BYTE]].forEach(([array, name, size, type]) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, false, 0, 0);
    });
    const origin = [-1.2345678, 0.1, 1234.5].map(Math.fround);
    const step = [137 / 2 ** 22, 255 / 2 ** 24, 129 / 2 ** 12]; // 8 significant bits
    gl.uniform3fv(gl.getUniformLocation(program, 'qOrigin'), origin);
    gl.uniform3fv(gl.getUniformLocation(program, 'qStep'), step);
    const out = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, null);
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, out);
    gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, points * 24, gl.STATIC_READ);
    gl.enable(gl.RASTERIZER_DISCARD);
    gl.beginTransformFeedback(gl.POINTS);
    gl.drawArrays(gl.POINTS, 0, points);
    gl.endTransformFeedback();
    const found = new Float32Array(points * 6);
    gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, found);
    let [wrong, worst] = [0, 0];
    for (let p = 0; p < points; p++) {
      for (let c = 0; c < 3; c++) {
        if (found[p * 6 + c] !== Math.fround(origin[c] + Math.fround(step[c] * q[p * 3 + c]))) wrong++;
      }
      const [u, v] = [Math.fround(n[p * 2] / 127), Math.fround(n[p * 2 + 1] / 127)];
      const z = 1 - Math.abs(u) - Math.abs(v);
      const below = z < 0 ? -z : 0;
      const normal = [u < 0 ? u + below : u - below, v < 0 ? v + below : v - below, z];
      normal.forEach((value, c) => (worst = Math.max(worst, Math.abs(value / Math.hypot(...normal) - found[p * 6 + 3 + c]))));
    }
    return {wrong, worst};
  }, decode);
  assert.equal(wrong, 0);
  assert.ok(worst < 1e-6, `${worst}`);
});

test('a clip plays, pauses, is stepped through', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const first = await pixels();
  const frame = page.locator('output.frame');
  assert.match(await frame.innerText(), /^0 \/ \d+$/);
  await press(' ');
  await page.waitForFunction(() => parseInt(document.querySelector('output.frame').textContent) >= 10);
  await page.waitForFunction(() => parseInt(document.getElementById('rates').textContent) >= 1);
  await press(' ');
  await settled();
  assert.ok(different(first, await pixels()) > 500, 'the hand has moved');
  await press('Home');
  await press('ArrowRight');
  assert.match(await frame.innerText(), /^1 \//);
  await press('ArrowLeft');
  assert.match(await frame.innerText(), /^0 \//);
  await settled();
  assert.equal(different(first, await pixels()), 0);
  await press('PageDown');
  assert.match(await frame.innerText(), /^10 \//);
  await press('?'); // keys of one character can be turned off
  await page.getByRole('dialog').getByRole('checkbox').uncheck();
  await page.keyboard.press('Escape');
  await press('2');
  assert.equal(await page.locator('#divider').isHidden(), true);
  await press('?');
  await page.getByRole('dialog').getByRole('checkbox').check();
  await page.keyboard.press('Escape');
  await press('2');
  await page.locator('#divider').waitFor();
});

test('a wrong recipe is marked where it is wrong, and the last shape stays', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const before = await pixels();
  await type(0, 'lbs | delta_mush(step=7, radus=1)');
  await page.locator('.recipe mark').waitFor();
  assert.match(await page.locator('.recipe .error').first().innerText(), /^(step: got 7|radus: unknown parameter)/);
  assert.match(await page.locator('.recipe mark').first().innerText(), /^(step=7|radus=1)$/);
  assert.equal(different(before, await pixels()), 0);
  await keep('error');
  await type(0, ' '); // on the way to another one
  await page.locator('.recipe .error').getByText('Got no recipe, need one, such as lbs. lbs is shown.').waitFor();
  assert.equal(different(before, await pixels()), 0);
  await type(0, 'lbs | delta_mush');
  await live();
  await settled();
  assert.equal(await page.locator('.recipe .error').first().isHidden(), true);
  assert.ok(different(before, await pixels(), {tolerance: 2}) > 50, 'the new recipe is shown');
});

test('a recipe is typed on the keyboard, and Tab leaves its field', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const field = page.getByRole('textbox', {name: 'Recipe A'});
  await field.click();
  await page.keyboard.press('End');
  await page.keyboard.type('(max_influences=2)');
  assert.equal(await field.inputValue(), 'lbs(max_influences=2)');
  await page.keyboard.press('Tab');
  assert.equal(await field.evaluate((element) => element === document.activeElement), false);
});

test('a server that was started again gets the character again', async () => {
  const first = await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off');
  const address = first.line.match(/127\.0\.0\.1:\d+/)[0];
  const {line} = await view('model:hand', '--deformer', 'lbs', '--server', address);
  await open(line);
  await stop(first.child, 'SIGKILL');
  await page.getByText('Trying again').waitFor();
  await start('sinewd', '--listen', address, '--http', 'off'); // without what the first had in memory
  await page.getByText('Trying again').waitFor({state: 'hidden', timeout: 60000});
  const rates = () => page.locator('#rates').textContent();
  const before = await rates();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((text) => document.getElementById('rates').textContent !== text, before, {timeout: 60000});
});

test('a bind shows its progress', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  await page.evaluate(() => {
    window.states = [];
    new MutationObserver(() => window.states.push(document.querySelector('.recipe .state').textContent))
      .observe(document.querySelector('.recipe .state'), {childList: true, characterData: true, subtree: true});
  });
  await type(0, 'implicit_skinning');
  await page.waitForFunction(() => /^Bound/.test(window.states.at(-1)), undefined, {timeout: 60000});
  const states = await page.evaluate(() => window.states);
  assert.match(states[0], /^Binding … \d+ %$/);
});

test('menu and sliders write recipes that the server takes', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const menu = page.locator('.recipe select').first();
  await menu.selectOption('dqs');
  await live();
  assert.equal(await recipe(0).inputValue(), 'dqs');
  await menu.selectOption('bulge_free');
  await live();
  assert.equal(await recipe(0).inputValue(), 'dqs | bulge_free');
  await page.locator('details summary').first().click();
  const blend = page.getByRole('slider', {name: 'blend', exact: true});
  await blend.fill('500');
  assert.equal(await recipe(0).inputValue(), 'dqs(blend=0.5) | bulge_free');
  await page.waitForFunction(() => document.querySelector('.recipe .state').textContent.startsWith('Bound'));
  assert.equal(await page.locator('.recipe .error').first().isHidden(), true);
  await keep('sliders');
  await page.getByRole('button', {name: 'Default of blend', exact: true}).click();
  await page.waitForFunction(() => document.querySelector('.recipe input').value === 'dqs | bulge_free');
});

test('a wipe shows both recipes, each on its side', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'ddm(iterations=20)');
  await open(line);
  await bend();
  await settled();
  const first = await pixels();
  await press('2');
  await live(1);
  await settled();
  assert.deepEqual([await text('name-a'), await text('name-b')], ['lbs', 'ddm(iterations=20)']);
  await keep('wipe');
  const both = await pixels();
  const middle = both.width / 2;
  assert.equal(different(first, both, {to: middle - 2}), 0);
  assert.ok(different(first, both, {from: middle + 2}) > 50, 'the right side has the other recipe');
  await page.locator('#divider').focus();
  await page.keyboard.press('End');
  await settled();
  assert.equal(different(first, await pixels(), {to: both.width - 2}), 0);
});

test('a heat map has the distance of two recipes', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'lbs');
  await open(line);
  await bend();
  await press('3');
  await page.locator('#legend').waitFor();
  await settled();
  assert.match(await text('legend-title'), /^Distance: largest 0/);
  assert.equal(count(await pixels(), isHot), 0);
  await type(1, 'ddm(iterations=20)');
  await page.waitForFunction(() => !/largest 0( |,)/.test(document.getElementById('legend-title').textContent));
  await settled();
  assert.match(await text('legend-high'), /^[125]\d*(\.\d+)? (mm|cm)$|^0?\.\d+ (mm|cm)$/);
  assert.ok(count(await pixels(), isHot) > 20, 'the largest distances are red');
  await keep('heat');
});

test('a click chooses a joint, which turns and turns back', async () => {
  const {line} = await view('model:arm', '--deformer', 'dqs');
  await open(line);
  const before = await pixels();
  const box = await page.locator('#canvas').boundingBox();
  let x = 0, y = 0;
  for (let at = 0, best = 0; at < before.data.length; at += 4) { // the middle of the longest run of clay in a row
    const [r, g, b] = before.data.subarray(at, at + 3);
    x = isClay(r, g, b) ? x + 1 : 0;
    if (x > best) [best, y] = [x, at / 4 - x / 2];
  }
  await page.mouse.click(box.x + y % before.width, box.y + Math.floor(y / before.width));
  const chosen = page.locator('.joint[aria-selected=true]');
  await chosen.waitFor();
  const name = await chosen.innerText();
  const influences = page.locator('.vertex li');
  assert.ok(await influences.count() > 0);
  assert.match(await influences.first().innerText(), new RegExp(`^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\s+(0\\.\\d+|1\\.000)$`));
  await press('v');
  await settled();
  assert.match(await text('legend-title'), new RegExp(`^Weight of `));
  assert.ok(count(await pixels(), isHot) > 100, 'full weight is red');
  await keep('weights');
  await press('v');
  await settled();
  const posed = await pixels();
  await page.getByRole('spinbutton', {name: /^Turn x/}).fill('50');
  await page.keyboard.press('Enter');
  await settled();
  const turned = await pixels();
  assert.ok(different(posed, turned) > 500, 'the joint has turned');
  await keep('turned');
  const field = page.getByRole('spinbutton', {name: /^Turn x/});
  for (const wrong of ['1,5', '1e300']) {
    await field.fill(wrong);
    await page.keyboard.press('Enter');
    await page.locator('#pose .error').getByText(`Turn x: got "${wrong}", need a number from -360 to 360, such as 1.5.`).waitFor();
    assert.equal(await field.inputValue(), '50');
  }
  await field.press('ArrowUp');
  assert.equal(await field.inputValue(), '51');
  await field.press('Shift+ArrowDown');
  assert.equal(await field.inputValue(), '41');
  assert.equal(await page.locator('#pose .error').isHidden(), true);
  await press('Control+z');
  await press('Control+z');
  await press('Control+z');
  await settled();
  assert.ok(different(posed, await pixels()) < 20, 'undone');
  await press('Control+y');
  await settled();
  assert.ok(different(turned, await pixels()) < 20, 'done again');
  await page.getByRole('button', {name: 'Copy JSON', exact: true}).click();
  const pose = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(pose.joints[name].length, 12);
  await press('Escape');
  assert.equal(await chosen.count(), 0);
});

test('the gizmo turns a joint', async () => {
  const {line} = await view('model:arm', '--deformer', 'dqs');
  await open(line);
  await page.locator('.joint').nth(1).click();
  await settled();
  const before = await pixels();
  // The ring that faces the viewer is outermost: found by its colour, which nothing else has.
  const yellow = count(before, (r, g, b) => r > b + 40 && g > b + 40 && Math.abs(r - g) < 25);
  assert.ok(yellow > 50, 'the ring is drawn');
  let at = 0;
  for (let k = 0; k < before.data.length; k += 4) {
    const [r, g, b] = before.data.subarray(k, k + 3);
    if (r > b + 40 && g > b + 40 && Math.abs(r - g) < 25) at = k / 4;
  }
  const box = await page.locator('#canvas').boundingBox();
  const [x, y] = [box.x + at % before.width, box.y + Math.floor(at / before.width)];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 1; step <= 8; step++) await page.mouse.move(x + step * 8, y - step * 2);
  await page.mouse.up();
  await page.locator('.joint.edited').waitFor();
  await page.mouse.move(box.x + 5, box.y + box.height - 5);
  await settled();
  assert.ok(different(before, await pixels()) > 300, 'the arm has turned');
  await keep('gizmo');
});

test('controls have sliders', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs | muscle');
  await open(line);
  await bend();
  await settled();
  const before = await pixels();
  const slider = page.getByRole('slider', {name: /^biceps_tension/});
  const now = await slider.inputValue();
  await slider.fill(Number(now) > 0.5 ? '0' : '1');
  await settled();
  assert.ok(different(before, await pixels(), {tolerance: 2}) > 50, 'the muscle has contracted');
  await keep('control');
  await page.getByRole('button', {name: 'Default of biceps_tension', exact: true}).click();
  assert.equal(await slider.inputValue(), now);
  await settled();
  assert.equal(different(before, await pixels()), 0);
  const unused = page.getByText('No recipe shown uses controls; lbs | muscle would.');
  assert.equal(await unused.isHidden(), true);
  await type(0, 'lbs');
  await unused.waitFor();
});

test('a link restores the view', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'ddm');
  await open(line);
  await press('2');
  await live(1);
  for (const key of ['End', 'ArrowLeft', 'b', 's', 'Shift+ArrowLeft', '+']) await press(key);
  await page.locator('.joint').nth(3).click();
  await page.getByRole('spinbutton', {name: /^Turn y/}).fill('20');
  await page.keyboard.press('Enter');
  await settled();
  await page.waitForTimeout(600);
  await keep('link');
  const before = await pixels();
  const url = page.url();
  assert.match(url, /recipe=lbs&recipe=ddm&view=wipe/);
  await page.getByRole('button', {name: 'Link', exact: true}).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.startsWith(url) && link.includes(line.split('#')[1]));
  await page.goto('about:blank');
  await page.evaluate(() => 0);
  await open(link);
  await live(1);
  await settled();
  await page.waitForTimeout(600);
  await keep('restored');
  assert.equal(page.url(), url);
  assert.ok(different(before, await pixels()) < 40, 'the picture is the same, but for edges: numbers of a link are rounded');
});

test('two pages follow one, which shares its character', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  await page.getByRole('button', {name: 'Share', exact: true}).click();
  await page.waitForFunction(async () => /follow=/.test(await navigator.clipboard.readText()));
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const name = /follow=(model-hand-[0-9a-f]{4})&token=/.exec(link)[1];
  assert.equal(await text('label'), `model:hand · shared as ${name}`);
  const poser = page;
  const followers = [];
  for (let k = 0; k < 2; k++) {
    const context = await browser.newContext({viewport: {width: 900, height: 520}, colorScheme: 'light'});
    const follower = await context.newPage();
    follower.on('pageerror', (error) => complaints.push(error.stack));
    followers.push(follower);
  }
  const inEach = async (act) => {
    for (const follower of followers) {
      usePage(follower);
      await act();
    }
    usePage(poser);
  };
  const before = new Map(), bent = new Map();
  await inEach(async () => {
    await open(link);
    assert.equal(await text('label'), `Follows ${name}`);
    assert.match(await text('follow'), /another page or program poses it/);
    assert.equal(await page.locator('#pose').evaluate((element) => element.inert), true);
    assert.equal(await page.getByRole('button', {name: 'Share', exact: true}).isHidden(), true);
    assert.doesNotMatch(page.url(), /token/);
    before.set(page, await pixels());
    assert.ok(count(before.get(page), isClay) > 0.03 * 900 * 520 / 3, 'the hand is drawn');
    await press('b'); // bones, clicks and the other views would need the pose
    await press('2');
    await page.locator('#canvas').click();
    await page.mouse.move(0, 0);
    await settled();
    assert.equal(different(before.get(page), await pixels()), 0);
    assert.equal(await page.locator('.joint[aria-selected=true]').count(), 0);
  });
  await page.locator('.joint').nth(8).click();
  await page.getByRole('spinbutton', {name: /^Turn x/}).fill('60');
  await page.keyboard.press('Enter');
  await settled();
  await keep('shared');
  await inEach(async () => {
    await settled();
    bent.set(page, await pixels());
    assert.ok(different(before.get(page), bent.get(page)) > 300, 'the joint has turned here, too');
    await keep('follows');
  });
  assert.equal(different(bent.get(followers[0]), bent.get(followers[1])), 0);
  await page.goto('about:blank'); // the page that shares is closed
  await inEach(async () => {
    await page.getByText('is not shared any more').waitFor();
    assert.equal(different(bent.get(page), await pixels()), 0, 'the last shape stays');
    await keep('ended');
  });
  await page.goBack(); // it shares again under the same name, with the joint as it was
  await inEach(async () => {
    await page.getByText('is not shared any more').waitFor({state: 'hidden', timeout: 30000});
    await settled();
    assert.ok(different(bent.get(page), await pixels()) < 40);
    await page.context().close();
  });
});

test('a tab that is duplicated leaves the shared name to its original', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const share = () => page.getByRole('button', {name: 'Share', exact: true});
  const sharedAs = async () => {
    await page.getByText(/^model:hand · shared as /).waitFor();
    return (await text('label')).replace(/.* /, '');
  };
  await share().click();
  const name = await sharedAs();
  const original = page;
  // Browsers give a window that this page opens a copy of what its tab keeps.
  const [copy] = await Promise.all([page.context().waitForEvent('page'), page.evaluate(() => void window.open(location.href))]);
  usePage(copy);
  await page.locator('#state').getByText(`${name} is shared by another tab, not by this one.`).waitFor();
  await shown();
  await settled();
  await keep('duplicated');
  assert.ok(count(await pixels(), isClay) > 1000, 'the hand is drawn');
  assert.equal(await bare('state'), true, 'the line can be read');
  assert.equal(await text('label'), 'model:hand');
  assert.equal(await share().getAttribute('aria-pressed'), 'false');
  await share().click();
  const own = await sharedAs();
  assert.notEqual(own, name);
  for (const [tab, kept] of [[copy, own], [original, name]]) {
    usePage(tab);
    await page.bringToFront();
    await page.reload();
    assert.equal(await sharedAs(), kept);
    await shown();
    await settled();
    assert.equal(await page.locator('#state').isHidden(), true);
  }
});

test('the view comes back when the graphics driver does', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  await bend();
  await settled();
  const before = await pixels();
  await page.evaluate(() => {
    window.loss = document.getElementById('canvas').getContext('webgl2').getExtension('WEBGL_lose_context');
    window.loss.loseContext();
  });
  await settled();
  assert.ok(different(before, await pixels()) > 500, 'the picture is lost');
  await page.evaluate(() => window.loss.restoreContext());
  await settled();
  assert.ok(different(before, await pixels()) < 20, 'the picture is back');
});

test('the picture is saved as PNG, with recipes and legend, without gizmo', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'ddm(iterations=20)');
  await open(line);
  await bend();
  const save = async () => {
    const waiting = page.waitForEvent('download');
    await press('p');
    const download = await waiting;
    if (pictures) await download.saveAs(path.join(pictures, 'saved.png'));
    return {name: download.suggestedFilename(), saved: await pixels(readFileSync(await download.path()))};
  };
  await settled();
  const shown = await pixels();
  const plain = await save();
  assert.equal(plain.name, 'model-hand-12.png');
  assert.deepEqual([plain.saved.width, plain.saved.height], [shown.width, shown.height]);
  const footer = shown.height - 40; // where the recipe stands
  assert.ok(different(shown, plain.saved, {bottom: footer}) < 20, 'it shows what the page shows');
  assert.ok(different(shown, plain.saved) > 100, 'the recipe is written into it');
  await press('3');
  await page.locator('#legend').waitFor();
  await settled();
  const heat = await pixels();
  const isGizmo = (r, g, b) => r > b + 40 && g > b + 40 && Math.abs(r - g) < 25;
  await joint('index_proximal').click();
  await settled();
  assert.ok(count(await pixels(), isGizmo) > 50, 'the gizmo is drawn');
  const {saved} = await save();
  assert.equal(count(saved, isGizmo), 0, 'the gizmo is not saved');
  assert.ok(different(heat, saved, {bottom: footer - 85}) < 20, 'nothing else is written over the view');
  assert.ok(different(heat, saved, {to: 200}) > 1500, 'the legend is written into it');
  await settled();
  assert.ok(count(await pixels(), isGizmo) > 50, 'the gizmo is still there');
});

for (const [signal, what] of [['SIGKILL', 'dies'], ['SIGTERM', 'drains']]) {
  test(`the page waits for a server that ${what}, and goes on with the next`, async () => {
    const data = path.join(folder, what);
    const server = await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off', '--data-dir', data);
    const address = server.line.split('listening on ')[1].trim();
    const {line} = await view('model:hand', '--deformer', 'lbs', '--server', address);
    await open(line);
    const before = await pixels();
    await stop(server.child, signal);
    await page.locator('#state').getByText(/[Tt]rying again/).waitFor();
    await settled();
    assert.equal(different(before, await pixels()), 0);
    await keep(`server-${what}`);
    await start('sinewd', '--listen', address, '--http', 'off', '--data-dir', data);
    await page.locator('#state').waitFor({state: 'hidden', timeout: 60000});
    await bend();
    await settled();
    assert.ok(different(before, await pixels()) > 500, 'poses are answered again');
  });
}

test('the page says that a server is slow', async () => {
  const server = await start('sinewd', '--listen', '127.0.0.1:0', '--http', 'off');
  const {line} = await view('model:hand', '--deformer', 'lbs', '--server', server.line.split('listening on ')[1].trim());
  await open(line);
  const before = await pixels();
  server.child.kill('SIGSTOP');
  try {
    await bend();
    await page.locator('#state').getByText(/has not answered for \d+ s/).waitFor();
    assert.equal(different(before, await pixels()), 0);
  } finally {
    server.child.kill('SIGCONT');
  }
  await page.locator('#state').waitFor({state: 'hidden'});
  await settled();
  assert.ok(different(before, await pixels()) > 500, 'the pose is answered late');
});

test('the page says what to do when its own server is gone', async () => {
  const {child, line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const before = await pixels();
  await stop(child, 'SIGKILL');
  await page.locator('#state').getByText(/The last shape is shown; trying again/).waitFor();
  assert.equal(different(before, await pixels()), 0);
  const port = new URL(line).port;
  await view('model:hand', '--deformer', 'lbs', '--port', port);
  await page.locator('#state').getByText(/does not accept the token/).waitFor({timeout: 60000});
});

test('names from a file are shown as text, not as HTML', async () => {
  const name = '<img src=x onerror=document.title=1>.sinewrig';
  const rig = path.join(folder, 'hand.sinewrig');
  execFileSync(path.join(bin, 'sinew'), ['export', 'model:hand', '--rig', rig, '--quiet']);
  const bytes = readFileSync(rig, 'latin1').replaceAll('thumb_proximal', '<b>roximal</b>'); // as long as before
  writeFileSync(path.join(folder, name), bytes, 'latin1');
  const {line} = await view(path.join(folder, name), '--deformer', 'lbs');
  await open(line);
  await joint('<b>roximal</b>').click();
  assert.match(await page.locator('#pose').innerText(), /^<b>roximal<\/b>$/m);
  assert.ok((await text('label')).includes('<img src=x'));
  await type(0, '<b>lbs</b>');
  await page.locator('.recipe .error').first().waitFor();
  assert.equal(await page.locator('main img, main b, header img').count(), 0);
});

// A token file with one token; returns the flags of the server and of clients, and the token.
function token(name, rest = '') {
  const file = path.join(folder, `${name}.token`);
  const line = execFileSync(path.join(bin, 'sinewd'), ['--make-token', name, '--out', file], {encoding: 'utf8'});
  const tokens = path.join(folder, `${name}.jsonl`);
  writeFileSync(tokens, line.trim().replace(/}$/, `${rest}}`) + '\n');
  return {tokens, file, text: readFileSync(file, 'utf8').trim()};
}

test('a server shows its rigs to those who have a token', async () => {
  const alice = token('alice');
  const server = await web('--token-file', alice.tokens);
  execFileSync(path.join(bin, 'sinew'), ['upload', 'model:arm', '--server', server.address, '--token-file', alice.file, '--quiet']);
  await page.goto(server.link);
  await page.getByText('This server needs a token.').waitFor();
  await keep('web-token');
  await page.getByLabel('Token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('does not accept this token').waitFor();
  await page.getByLabel('Token').fill(alice.text);
  await page.getByRole('button', {name: 'Sign in'}).click();
  const rigs = page.locator('.rigs button');
  await rigs.first().waitFor();
  await keep('web-rigs');
  assert.equal(await rigs.count(), 1);
  assert.match(await rigs.first().innerText(), /\d vertices · .*[0-9a-f]{8}…$/);
  await rigs.first().click();
  await shown();
  await settled();
  const rest = await pixels();
  assert.ok(count(rest, isClay) > 1000, 'the arm is drawn');
  await page.locator('.joint').nth(1).click();
  await page.getByRole('spinbutton', {name: /^Turn x/}).fill('50');
  await page.keyboard.press('Enter');
  await page.locator('.joint[aria-selected=true]').waitFor();
  await press('Escape');
  await settled();
  assert.ok(different(rest, await pixels()) > 300, 'the arm is posed');
  await keep('web-posed');
  await page.waitForTimeout(600);
  await page.getByRole('button', {name: 'Link', exact: true}).click();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /#rig=rigs/);
  assert.ok(!link.includes(alice.text) && !link.includes('token'), 'links hold no token');
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${link}&token=${encodeURIComponent(alice.text)}`);
  await other.waitForFunction(() => document.querySelector('.joint.edited') !== null, undefined, {timeout: 60000});
  assert.doesNotMatch(other.url(), /token/);
  await other.context().close();
  await stop(server.child);
  await page.locator('#state').getByText(/[Tt]rying again/).waitFor();
});

test('a server with TLS serves its page with it', async () => {
  const alice = token('alice over tls');
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => path.join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-subj', '/CN=page',
    '-addext', 'subjectAltName=IP:127.0.0.1'], {stdio: 'ignore'});
  const server = await web('--token-file', alice.tokens, '--tls-cert', cert, '--tls-key', key);
  execFileSync(path.join(bin, 'sinew'), ['upload', 'model:arm', '--server', server.address, '--tls-ca', cert, '--token-file', alice.file, '--quiet']);
  await newPage({ignoreHTTPSErrors: true});
  await page.goto(`${server.link.replace('http:', 'https:')}#token=${encodeURIComponent(alice.text)}`);
  await page.locator('.rigs button').first().click();
  await shown();
  await settled();
  const rest = await pixels();
  await page.locator('.joint').nth(1).click();
  for (let degrees = 1; degrees <= 50; degrees++) {
    await page.getByRole('spinbutton', {name: /^Turn x/}).fill(String(degrees));
    await page.keyboard.press('Enter');
  }
  await press('Escape');
  await settled();
  assert.ok(different(rest, await pixels()) > 300, 'the arm is posed');
  await keep('web-tls');
});

test('a server says which scope a token lacks', async () => {
  const writer = token('writer', ',"scopes":["rigs:write"]');
  const server = await web('--token-file', writer.tokens);
  await page.goto(`${server.link}#token=${encodeURIComponent(writer.text)}`);
  await page.getByText('call: needs the scope rigs:read').waitFor();
  complaints.splice(0);
});

test('axe finds no serious fault, light, dark and at 200 %', async () => {
  const {line} = await view('model:hand', '--deformer', 'lbs', 'dqs | bulge_free');
  await open(line);
  await press('2');
  await live(1);
  await page.locator('.joint').nth(2).click();
  await page.locator('details summary').first().click();
  for (const [name, size] of [['light', [1100, 640]], ['dark', [1100, 640]], ['large', [700, 430]]]) {
    await page.setViewportSize({width: size[0], height: size[1]});
    if (name === 'dark') await press('t');
    await settled();
    await keep(`axe-${name}`);
    await page.evaluate(AXE); // not a script element, which the page's policy would refuse
    const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
    const faults = violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.map(({target}) => target).join(', ')}`);
    assert.deepEqual(faults, [], name);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing is cut off at the side');
  }
});
