// Names, colours and counts of the vertex status on the screen.

import {STATUS, statusCounts} from '../status.ts';
import type {Viewer} from '../viewer.ts';
import {find, make} from './dom.ts';

let written = '';

// Shows the legend while the status is shown.
export function showStatusLegend(viewer: Viewer): void {
  const element = find('status-legend');
  element.hidden = !viewer.status;
  if (!viewer.status) return;
  const shown = viewer.slots.flatMap(({shape}, k) => shape && (k === 0 || viewer.view === 'wipe' || viewer.view === 'side') ?
    [{name: 'AB'[k], counts: shape.status && statusCounts(shape.status)}] : []);
  const text = JSON.stringify(shown);
  if (text === written) return;
  written = text;
  const rows = STATUS.flatMap(({name, colour, about}, s) => {
    const found = shown.filter(({counts}) => counts?.[s]);
    if (!found.length) return [];
    const swatch = make('span', {className: 'swatch'});
    swatch.style.background = `rgb(${colour.join(' ')})`;
    const numbers = found.map(({name, counts}) => `${shown.length > 1 ? `${name} ` : ''}${counts![s].toLocaleString('en')}`).join(', ');
    return [make('li', {title: about}, swatch, `${name} `, make('span', {className: 'hint'}, numbers))];
  });
  const without = shown.filter(({counts}) => !counts).map(({name}) => `Recipe ${name} has no implicit stage.`);
  element.replaceChildren(make('figcaption', {}, 'Vertex status'), make('ul', {}, ...rows), ...without.map((line) => make('p', {className: 'hint'}, line)));
}
