// The status of vertices of implicit skinning: names and colours as in `sinew render --vertex-status`.

interface StatusLook {
  name: string;
  colour: [number, number, number];
  about: string;
}

// By number, see VertexStatus in frame.proto; the last stands for those that this page does not know.
export const STATUS: StatusLook[] = [
  {name: 'not displaced', colour: [240, 205, 40], about: 'march: was on its surface already'},
  {name: 'fitted', colour: [60, 170, 70], about: 'march: moved onto it'},
  {name: 'gradient divergence', colour: [205, 40, 35], about: 'march: stopped where another part is met'},
  {name: 'potential pit', colour: [140, 60, 165], about: 'march: would be led off the surface'},
  {name: 'iteration limit', colour: [45, 85, 205], about: 'march: off its surface after the last step'},
  {name: 'zero gradient', colour: [18, 18, 20], about: 'march: no direction to move in'},
  {name: 'excluded', colour: [246, 246, 246], about: 'excluded at bind'},
  {name: 'unmoved', colour: [150, 150, 155], about: 'was on its own level already, or is as thick as at rest'},
  {name: 'at rest level', colour: [130, 225, 215], about: 'moved to its own level'},
  {name: 'contact', colour: [240, 115, 30], about: 'stopped where it meets another limb'},
  {name: 'move limit', colour: [125, 130, 30], about: 'off its level at the limit of its move'},
  {name: 'unknown', colour: [255, 0, 255], about: 'of a newer server'},
];

const indexOf = (status: number) => Math.min(status, STATUS.length - 1);

// Vertices of each status.
export function statusCounts(status: Uint8Array): number[] {
  const counts = new Array<number>(STATUS.length).fill(0);
  for (const each of status) counts[indexOf(each)]++;
  return counts;
}

// The colours of the vertices, 4 bytes each.
export function statusColours(status: Uint8Array): Uint8Array {
  const out = new Uint8Array(status.length * 4);
  status.forEach((each, v) => out.set(STATUS[indexOf(each)].colour, v * 4));
  return out;
}
