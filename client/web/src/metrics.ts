// What `sinew compare` measures, of the recipes shown, over the clip as it is posed in the page.

import type {MessageInitShape} from '@bufbuild/protobuf';
import {DeformService, type FrameMetrics} from '@proto/deform_service_pb';
import {Attribute, type Frame} from '@proto/frame_pb';
import {JointFormat, Space, type PoseSchema} from '@proto/pose_pb';
import {distances} from './decode.ts';
import type {Server} from './server.ts';
import {bytesOf} from './shape.ts';
import type {Viewer} from './viewer.ts';
import {CallError, INVALID_ARGUMENT} from './wire.ts';

export interface Metric {
  key: string; // of FrameMetrics, or one of the distances
  label: string; // as the column of `sinew compare`
  about: string;
  smallIsWorst?: boolean;
  unit?: string;
  text: (value: number) => string; // without the unit
}

const percent = (digits: number) => (value: number) => (100 * value).toFixed(digits);
const plain = (digits: number) => (value: number) => value.toFixed(digits);

// Lengths are in rig units; the panel states them in millimetres or centimetres.
export const DISTANCES: Metric[] = [
  {key: 'distance', label: 'distance', about: 'Largest distance of a vertex from where recipe A puts it', text: plain(6)},
  {key: 'distanceRms', label: 'distance rms', about: 'Root mean square distance of the vertices from where recipe A puts them', text: plain(6)},
];

export const METRICS: Metric[] = [
  {key: 'volumeRatio', label: 'volume', about: 'Enclosed volume over that at rest', smallIsWorst: true, unit: '%', text: percent(2)},
  {key: 'minimumThickness', label: 'thickness', about: 'Smallest distance from the bone over its value at rest', smallIsWorst: true, unit: '%', text: percent(2)},
  {key: 'bulge', label: 'bulge', about: 'How much farther skin is from the nearest of its bones than at rest, over the radius of the limb', unit: '%', text: percent(2)},
  {key: 'edgeDistortion', label: 'edges rms', about: 'Root mean square of ln(length / length at rest) of the edges', text: plain(4)},
  {key: 'worstEdge', label: 'worst edge', about: 'Largest |ln(length / length at rest)| of an edge', text: plain(4)},
  {key: 'areaDistortion', label: 'areas rms', about: 'Root mean square of ln(area / area at rest) of the faces', text: plain(4)},
  {key: 'flippedFraction', label: 'flipped', about: 'Part of the area in inverted faces', unit: '%', text: percent(2)},
  {key: 'flippedBeyondLinear', label: 'beyond lbs', about: 'Inverted faces that linear blending neither inverts nor halves', unit: '%', text: percent(2)},
  {key: 'selfIntersections', label: 'crossings', about: 'Pairs of faces that cross, where not so at rest', text: plain(0)},
  {key: 'overlap', label: 'overlap', about: 'Volume that is enclosed twice, where not so at rest, over the volume at rest', unit: '%', text: percent(3)},
  {key: 'roughness', label: 'roughness', about: 'How far apart the ends of an edge are moved from where dqs puts them, over its length: the largest', text: plain(2)},
  {key: 'roughness999', label: 'rough 99.9', about: 'The 99.9th percentile of the roughness of the edges', text: plain(4)},
  {key: 'roughFraction', label: 'over 1', about: 'Part of the edges with a roughness above 1', unit: '%', text: percent(3)},
  {key: 'jerk', label: 'jerk', about: 'Third difference in time, in bounding-box diagonals / s³', text: (value) => String(Number(value.toPrecision(4)))},
  {key: 'pop', label: 'pop', about: 'Second difference of a vertex relative to its joint, per degree of the fastest joint, over the radius of the limb', text: plain(4)},
  {key: 'pop999', label: 'pop 99.9', about: 'The 99.9th percentile of the pop of the vertices', text: plain(4)},
];

type Pose = MessageInitShape<typeof PoseSchema>;

// What is measured: the recipes on the screen, and the clip (or the rest pose) with the edits.
export interface Subject {
  key: string; // equal for equal subjects
  recipes: string[];
  targets: string[]; // sessions
  frames: number;
  pose: (frame: number) => Pose;
  fps: number;
  vertices: number;
}

export interface Measurement {
  key: string;
  frames: number;
  values: Array<Map<string, Float64Array>>; // by recipe and metric; NaN = not defined in that frame
  problem: string; // of a pose that could not be measured
}

// null while a recipe is not ready.
export function subjectOf(viewer: Viewer): Subject | null {
  const slots = viewer.slots.filter(({recipe}) => recipe);
  if (!slots.length || slots.some(({state, session, drawn, recipe}) => state.kind !== 'live' || !session || drawn !== recipe)) return null;
  const {clip} = viewer.player;
  const bytes = ({buffer, byteOffset, byteLength}: Float32Array) => new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  const recipes = slots.map(({recipe}) => recipe);
  return {
    key: JSON.stringify([recipes, clip?.index ?? -1, viewer.edits.text()]),
    recipes,
    targets: slots.map(({session}) => session!.name),
    frames: clip?.frames ?? 1,
    pose: (frame) => {
      const {model, controls} = viewer.poseAt(frame);
      return {jointTransforms: bytes(model), controls: bytes(controls)};
    },
    fps: clip?.fps ?? 0,
    vertices: viewer.rig.vertices,
  };
}

const BLOCK_BYTES = 2 << 20; // of poses per request, which may have 4 MiB
const BLOCK_FRAMES = 250;
const PREROLL = 3; // poses sent again before each block: jerk is a third difference
const LAYOUT = {jointFormat: JointFormat.MATRIX_3X4, space: Space.MODEL};

// Measures block after block. `crossings`: also crossing faces and overlap, which are slow. An abort is thrown as AbortError.
export async function measure(server: Server, subject: Subject, crossings: boolean, progress: (part: number) => void,
  signal: AbortSignal): Promise<Measurement> {
  const {targets, frames} = subject;
  const values = targets.map(() => new Map<string, Float64Array>());
  const result: Measurement = {key: subject.key, frames, values, problem: ''};
  const put = (target: number, key: string, frame: number, value: number) => {
    if (!values[target].has(key)) values[target].set(key, new Float64Array(frames).fill(NaN));
    values[target].get(key)![frame] = value;
  };
  const two = targets.length > 1;
  let done = 0;
  const step = (count: number) => progress((done += count) / (frames * (targets.length + (two ? 1 : 0))));
  const size = (subject.pose(0).jointTransforms?.length ?? 0) + (subject.pose(0).controls?.length ?? 0) + 48;
  let most = BLOCK_FRAMES;
  for (let first = 0; first < frames;) {
    const preroll = Math.min(first, PREROLL);
    const end = Math.min(frames, first + Math.max(1, Math.min(most, Math.floor(BLOCK_BYTES / size) - preroll)));
    const poses: Pose[] = [];
    for (let frame = first - preroll; frame < end; frame++) poses.push({...subject.pose(frame), frame: BigInt(frame + 1)});
    const before = done;
    try {
      const answers = server.stream(DeformService.method.compareDeformers, {
        targets: targets.map((name) => ({target: {case: 'session' as const, value: name}})),
        layout: LAYOUT, poses: {poses}, framesPerSecond: subject.fps, selfIntersections: crossings, preroll,
      }, signal);
      for await (const {target, frames: measured, problems} of answers) {
        for (const metrics of measured) {
          for (const {key} of METRICS) {
            const value = metrics[key as keyof FrameMetrics];
            if (value !== undefined) put(target, key, Number(metrics.frame) - 1, Number(value));
          }
        }
        if (problems.length) result.problem ||= `Frame ${problems[0].frame - 1n}: ${problems[0].problem?.message ?? 'could not be measured'}`;
        step(measured.length);
      }
      if (two) {
        for await (const {frame, largest, rms} of distancesOf(server, subject, poses.slice(preroll), signal)) {
          put(1, 'distance', frame, largest);
          put(1, 'distanceRms', frame, rms);
          step(1);
        }
      }
    } catch (error) {
      if (end - first < 2 || !/max-compare-poses/.test((error as Error).message)) throw error;
      most = (end - first) >> 1; // the operator allows fewer
      done = before;
      continue;
    }
    first = end;
  }
  return result;
}

async function* distancesOf(server: Server, {targets, vertices}: Subject, poses: Pose[], signal: AbortSignal) {
  const [a, b] = targets.slice(0, 2).map((name) => positionsOf(server, name, poses, vertices, signal));
  try {
    let [x, y] = await Promise.all([a.next(), b.next()]);
    while (!x.done && !y.done) {
      if (x.value.frame < y.value.frame) x = await a.next(); // a pose that one of them could not evaluate
      else if (y.value.frame < x.value.frame) y = await b.next();
      else {
        yield {frame: x.value.frame, ...distances(x.value.positions, y.value.positions)};
        [x, y] = await Promise.all([a.next(), b.next()]);
      }
    }
  } finally {
    for (const one of [a, b]) void one.return(undefined).catch(() => {});
  }
}

async function* positionsOf(server: Server, session: string, poses: Pose[], vertices: number, signal: AbortSignal) {
  let parts: Frame[] = [];
  const answers = server.stream(DeformService.method.deformClip, {
    target: {target: {case: 'session', value: session}}, layout: LAYOUT, poses: {poses},
    output: {attributes: [Attribute.POSITIONS], chunkBytes: Math.min(Math.max(vertices * 12, 4096), 64 << 20), omitChecksums: true},
  }, signal);
  for await (const {frames} of answers) {
    for (const part of frames) {
      parts.push(part);
      if (!part.lastChunk) continue;
      yield {frame: Number(part.frame) - 1, positions: new Float32Array(...bytesOf(parts.splice(0).map(({positions}) => positions), 4))};
    }
  }
}

// The frame with the worst value, the first of them; -1 = no frame has one.
export function worstFrame(values: Float64Array, smallIsWorst = false): number {
  let worst = -1;
  values.forEach((value, frame) => {
    if (!Number.isNaN(value) && (worst < 0 || (smallIsWorst ? value < values[worst] : value > values[worst]))) worst = frame;
  });
  return worst;
}

// A curve as SVG path data in a box of 1000 x 100, with gaps where values are not defined; one frame is a line across.
export function curvePath(values: Float64Array, low: number, high: number): string {
  const y = (value: number) => (100 - 100 * (value - low) / (high - low || 1)).toFixed(2);
  if (values.length === 1) return Number.isNaN(values[0]) ? '' : `M0 ${y(values[0])}H1000`;
  let path = '';
  let pen = 'M';
  values.forEach((value, frame) => {
    if (Number.isNaN(value)) pen = 'M';
    else {
      path += `${pen}${(1000 * frame / (values.length - 1)).toFixed(2)} ${y(value)}`;
      if (pen === 'M' && Number.isNaN(values[frame + 1] ?? NaN)) path += 'h0.01'; // a value alone is a dot
      pen = 'L';
    }
  });
  return path;
}

// What the page says when a measurement has failed.
export function failure(error: unknown): string {
  if ((error as Error).name === 'AbortError') return 'Cancelled: nothing is kept.';
  return error instanceof CallError && error.code === INVALID_ARGUMENT ? `Not measured: ${error.message}` : (error as Error).message;
}
