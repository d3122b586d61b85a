// Files that the page takes and saves, in Chromium. Run by run.sh.

import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {readFileSync, renameSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {test} from 'node:test';
import {bend, bin, count, different, folder, isClay, joint, keep, open, page, pixels, press, settled, shown, text, useBrowser, view, web} from './browser.mjs';
import {glb, painted} from './character.mjs';

const require = createRequire(new URL('../../client/web/package.json', import.meta.url));
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

useBrowser();

// Drops files onto the page, as a browser reports them.
async function drop(...files) {
  const transfer = await page.evaluateHandle((files) => {
    const data = new DataTransfer();
    for (const [name, base64] of files) data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
    return data;
  }, files.map((file) => [path.basename(file), readFileSync(file, 'base64')]));
  const target = page.locator('#view');
  await target.dispatchEvent('dragover', {dataTransfer: transfer});
  await target.dispatchEvent('drop', {dataTransfer: transfer});
}

const notice = () => page.locator('#notice');

// A rig and poses of a model, and a file that is neither.
function files(model) {
  const rig = path.join(folder, `${model}-<i>.sinewrig`), poses = path.join(folder, `${model}.npy`), wrong = path.join(folder, 'wrong-<i>.glb');
  execFileSync(path.join(bin, 'sinew'), ['export', `model:${model}`, '--rig', rig, '--poses', poses, '--quiet']);
  writeFileSync(wrong, 'glTF, it says');
  return {rig, poses, wrong};
}

test('a dropped file is shown, or what is wrong with it', async () => {
  const {rig, poses, wrong} = files('arm');
  const {line} = await view('model:hand', '--deformer', 'lbs');
  await open(line);
  const hand = await pixels();
  await drop(wrong);
  await notice().getByText('wrong-<i>.glb').waitFor();
  await page.locator('#notice.error').waitFor();
  await keep('drop-wrong');
  assert.equal(await notice().locator('i').count(), 0);
  await page.keyboard.press('Escape');
  assert.equal(await notice().isHidden(), true);
  await drop(rig, poses);
  await notice().getByText('Got 2 files, need one, or one .gltf with the files that it names.').waitFor();
  await drop(rig);
  await page.waitForFunction(() => document.getElementById('label').textContent === 'arm-<i>.sinewrig', undefined, {timeout: 60000});
  await shown();
  await settled();
  assert.ok(different(hand, await pixels()) > 500, 'another character is shown');
  await drop(poses);
  await page.waitForFunction(() => document.querySelector('select[aria-label=Clip]')?.selectedOptions[0]?.textContent.startsWith('arm.npy'),
    undefined, {timeout: 60000});
  await shown();
  await settled();
  const first = await pixels();
  await bend();
  await settled();
  assert.ok(different(first, await pixels()) > 300, 'its poses move it');
  await keep('drop-poses');
  await page.locator('input[type=file]').setInputFiles(wrong); // what the button Open does
  await page.locator('#notice.error').waitFor();
});

test('a server takes rigs that are dropped, and no other files', async () => {
  const {rig, poses, wrong} = files('hand');
  const {link} = await web();
  await page.goto(link);
  await page.getByText('This server has no rigs yet.').waitFor();
  await drop(wrong);
  await notice().getByText('wrong-<i>.glb: this server takes .sinewrig files only.').waitFor();
  await drop(poses);
  await notice().getByText('hand.npy: this server plays no files of poses').waitFor();
  writeFileSync(path.join(folder, 'broken.sinewrig'), 'no rig');
  await drop(path.join(folder, 'broken.sinewrig'));
  await notice().getByText('broken.sinewrig: rig: the bytes are not').waitFor();
  await keep('web-drop-wrong');
  await drop(rig);
  await shown();
  await settled();
  assert.ok(count(await pixels(), isClay) > 1000, 'the hand is drawn');
  assert.match(page.url(), /#rig=rigs/);
  await page.getByRole('button', {name: 'Rigs', exact: true}).click();
  await page.locator('.rigs button').waitFor();
  assert.equal(await page.locator('.rigs button').count(), 1);
  await page.evaluate(AXE);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  assert.deepEqual(violations.filter(({impact}) => impact === 'serious' || impact === 'critical').map(({id}) => id), []);
});

// The files that a click saves: the poses first.
async function saved(files) {
  const downloads = [];
  const take = (download) => downloads.push(download);
  page.on('download', take);
  await page.getByRole('button', {name: 'Save .npy', exact: true}).click();
  while (downloads.length < files) await page.waitForTimeout(50);
  page.off('download', take);
  const named = await Promise.all(downloads.map(async (download) => {
    const file = path.join(folder, download.suggestedFilename());
    await download.saveAs(file);
    return file;
  }));
  return named.sort((a, b) => b.length - a.length).reverse();
}

const sinew = (...options) => execFileSync(path.join(bin, 'sinew'), [...options, '--quiet']);
const isSwatch = (r, g, b) => r > 150 && r > 2 * g && r > 2 * b; // red of the image

test('a pose is saved as .npy, for numpy, sinew and the page', async () => {
  const {line} = await view('model:arm', '--deformer', 'lbs | muscle');
  await open(line);
  await bend();
  await settled();
  const ofClip = await saved(2);
  assert.deepEqual(ofClip.map((file) => path.basename(file)), ['model-arm-12.npy', 'model-arm-12.controls.npy']);
  const [plain, tensions] = ofClip.map((file, k) => { // files of the same names follow
    renameSync(file, path.join(folder, `clip-${k}.npy`));
    return path.join(folder, `clip-${k}.npy`);
  });
  assert.match(await text('state'), /^Saved: model-arm-12\.npy and model-arm-12\.controls\.npy\.$/);
  // The pose of the clip has the bits that sinew exports.
  const [all, values] = ['all.npy', 'values.npy'].map((name) => path.join(folder, name));
  sinew('export', 'model:arm', '--rig', path.join(folder, 'arm.sinewrig'), '--poses', all, '--controls', values);
  const frame = (file, size) => readFileSync(file).subarray(128 + 12 * size, 128 + 13 * size);
  const [one, values1] = [plain, tensions].map((file) => readFileSync(file).subarray(128));
  assert.deepEqual(one, frame(all, one.length));
  assert.deepEqual(values1, frame(values, values1.length));

  await joint('forearm').click();
  await page.getByRole('spinbutton', {name: /^Turn x/}).fill('40');
  await page.keyboard.press('Enter');
  const slider = page.getByRole('slider', {name: /^biceps_tension/});
  await slider.fill('0.25');
  await press('Escape');
  await settled();
  const posed = await pixels();
  await keep('pose-before');
  const [poses, controls] = await saved(2);
  await page.getByRole('button', {name: 'Copy JSON', exact: true}).click();
  const json = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  const read = JSON.parse(execFileSync('/usr/bin/python3', ['-c', `import json, sys, numpy
print(json.dumps([[list(a.shape), str(a.dtype), a.ravel().tolist()] for a in map(numpy.load, sys.argv[1:])]))`, poses, controls]));
  const inFloats = (list) => [...Float32Array.from(list)];
  assert.deepEqual(read, [[[1, Object.keys(json.joints).length, 12], 'float32', inFloats(Object.values(json.joints).flat())],
    [[1, Object.keys(json.controls).length], 'float32', inFloats(Object.values(json.controls))]]);
  assert.notDeepEqual(readFileSync(poses), readFileSync(plain), 'the edit is in it');
  const render = (name, ...motion) => {
    const file = path.join(folder, name);
    sinew('render', 'model:arm', '--deformer', 'lbs | muscle', ...motion, '--local', '--size', '200x200', '--out', file);
    return file;
  };
  const edited = await pixels(readFileSync(render('edited.png', '--poses', poses, '--controls', controls)));
  const clip = await pixels(readFileSync(render('plain.png', '--poses', plain, '--controls', tensions)));
  assert.ok(count(clip, isClay) > 500, 'sinew render draws the arm of the clip');
  assert.ok(different(edited, clip) > 300, 'and the turned arm');

  await drop(controls);
  await notice().getByText('model-arm-12.controls.npy: values of controls, need the .npy of their poses first').waitFor();
  await page.keyboard.press('Escape');
  await drop(plain, poses);
  await notice().getByText('Got 2 .npy files, need one of poses, and one of control values if they have some.').waitFor();
  await page.keyboard.press('Escape');
  await drop(all, controls);
  await notice().getByText(/^controls: got 1 frame of 1 control in model-arm-12.controls.npy, need the \d+ frames of the poses and the 1 control of model:arm/).waitFor();
  await page.keyboard.press('Escape');
  await drop(controls, poses); // in any order
  await page.waitForFunction(() => document.querySelector('select[aria-label=Clip]')?.selectedOptions[0]?.textContent === 'model-arm-12.npy',
    undefined, {timeout: 60000});
  await shown();
  await settled();
  await keep('pose-after');
  assert.equal(await page.locator('.joint.edited').count(), 0, 'the edit is in the poses, and not made again');
  assert.equal(await slider.inputValue(), '0.25');
  assert.ok(different(posed, await pixels()) < 20, 'the page shows the pose that was saved');
  const before = [poses, controls].map((file) => readFileSync(file));
  assert.deepEqual((await saved(2)).map((file) => readFileSync(file)), before, 'to the bit');
});

test('a .gltf is dropped with its side files', async () => {
  const {document, buffer, image} = painted();
  document.buffers[0].uri = 'parts/two%20squares.bin';
  document.images = [{uri: 'parts\\skin.png'}];
  const write = (name, content) => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const [file, parts, skin] = [write('squares.gltf', JSON.stringify(document)), write('two squares.bin', buffer), write('skin.png', image)];
  const {line} = await view('model:tube', '--deformer', 'lbs');
  await open(line);
  await drop(file);
  await notice().getByText('squares.gltf: drop it together with two squares.bin.').waitFor();
  await page.locator('input[type=file]').setInputFiles([skin, file, parts]); // what the button Open does
  await page.waitForFunction(() => document.getElementById('label').textContent === 'squares.gltf', undefined, {timeout: 60000});
  await shown();
  await settled();
  assert.equal(count(await pixels(), isSwatch), 0);
  await press('c');
  await settled();
  await keep('side-files');
  assert.ok(count(await pixels(), isSwatch) > 300, 'the image is drawn');
});

test('what is odd about a file is listed', async () => {
  const {document, buffer} = painted();
  const {attributes} = document.meshes[0].primitives[1];
  delete attributes.JOINTS_0;
  delete attributes.WEIGHTS_0;
  document.images = [{uri: 'nowhere.png'}];
  const file = path.join(folder, 'odd.glb');
  writeFileSync(file, glb(document, buffer));
  const {line} = await view('model:tube', '--deformer', 'lbs');
  await open(line);
  assert.equal(await page.locator('.about-file').count(), 0);
  await drop(file);
  await page.locator('summary').getByText('Warnings about the file').click();
  await keep('warning');
  const lines = await page.locator('.about-file li').allInnerTexts();
  assert.equal(lines.length, 2);
  assert.match(lines[0], /^odd\.glb: nodes\[0\] primitives\[1\]: no JOINTS_0 in a mesh with a skin/);
  assert.match(lines[1], /^odd\.glb: an image is left out: it is missing/);
});
