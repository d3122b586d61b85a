// The picture that is saved: the view, with the names of its recipes and the legend written into it.

import {RAMP} from '../skin.ts';

export interface Notes {
  left: string; // a recipe
  right: string; // '' = none
  border: number | null; // part of the width where a wipe has its border
  legend: {title: string; high: string} | null;
  status: Array<{text: string; colour: string}>; // rows of the legend of vertex status
}

const MARGIN = 12; // all lengths in pixels of the page
const LINE = 20;

export async function annotated(view: Blob, scale: number, {left, right, border, legend, status}: Notes): Promise<Blob> {
  const image = await createImageBitmap(view);
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d')!;
  context.drawImage(image, 0, 0);
  context.scale(scale, scale);
  const [width, height] = [image.width / scale, image.height / scale];
  const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  context.textBaseline = 'middle';
  const box = (x: number, y: number, w: number, h: number) => {
    context.fillStyle = colour('--panel');
    context.strokeStyle = colour('--line');
    context.beginPath();
    context.roundRect(x, y, w, h, 5);
    context.fill();
    context.stroke();
    context.fillStyle = colour('--text');
  };
  if (border !== null) {
    context.fillStyle = colour('--accent');
    context.fillRect(border * width - 1, 0, 2, height);
  }
  const half = (right ? width / 2 : width) - 1.5 * MARGIN;
  [left, right].forEach((name, k) => {
    if (!name) return;
    context.font = '13px ui-monospace, "DejaVu Sans Mono", monospace';
    let shown = name;
    while (shown.length > 1 && context.measureText(shown).width > half - MARGIN) shown = `${shown.slice(0, -2)}…`;
    const wide = context.measureText(shown).width + MARGIN;
    const x = k ? width - MARGIN - wide : MARGIN;
    box(x, height - MARGIN - LINE - 4, wide, LINE + 4);
    context.fillText(shown, x + MARGIN / 2, height - MARGIN - LINE / 2 - 1);
  });
  if (status.length) {
    context.font = '13px system-ui, "DejaVu Sans", sans-serif';
    const wide = Math.max(...status.map(({text}) => context.measureText(text).width)) + 3.5 * MARGIN;
    const y = height - 2.5 * MARGIN - (status.length + 2) * LINE;
    box(MARGIN, y, wide, (status.length + 0.5) * LINE);
    status.forEach(({text, colour: of}, k) => {
      const middle = y + (k + 0.75) * LINE;
      context.fillStyle = of;
      context.fillRect(1.5 * MARGIN, middle - MARGIN / 2, MARGIN, MARGIN);
      context.fillStyle = colour('--text');
      context.fillText(text, 3.25 * MARGIN, middle);
    });
  }
  if (legend) {
    context.font = '13px system-ui, "DejaVu Sans", sans-serif';
    const wide = Math.min(width - 2 * MARGIN, Math.max(240, context.measureText(legend.title).width + MARGIN));
    const [x, y] = [MARGIN, height - 2.5 * MARGIN - 4.5 * LINE];
    const inner = wide - MARGIN;
    box(x, y, wide, 3 * LINE);
    context.fillText(legend.title, x + MARGIN / 2, y + LINE / 2 + 2, inner);
    const ramp = context.createLinearGradient(x + MARGIN / 2, 0, x + MARGIN / 2 + inner, 0);
    RAMP.forEach((stop, k) => ramp.addColorStop(k / (RAMP.length - 1), stop));
    context.fillText('0', x + MARGIN / 2, y + 2.5 * LINE);
    context.fillText(legend.high, x + MARGIN / 2 + inner - context.measureText(legend.high).width, y + 2.5 * LINE);
    context.fillStyle = ramp;
    context.fillRect(x + MARGIN / 2, y + 1.25 * LINE, inner, LINE / 2);
  }
  return canvas.convertToBlob({type: 'image/png'});
}
