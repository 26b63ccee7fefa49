import type { Column } from "./grid-types.ts";

const remPixels = 16;
/** Least width of a column that shares the remaining space: enough to tell names apart. */
const sharedPixelsMin = 96;
const namePixelsMin = 240;
const gapPixels = 12;
const edgesPixels = 43;

/** The columns for which a list of this width has space. Minor columns are left out, from the left
 *  on, until the name has enough. */
export function fittingColumns<Row>(
  columns: readonly Column<Row>[],
  widthPixels: number,
): readonly Column<Row>[] {
  let fitting = columns;
  while (neededPixels(fitting) > widthPixels) {
    const left = fitting.findIndex(({ isMinor }) => isMinor === true);
    if (left < 0) break;
    fitting = fitting.filter((_, index) => index !== left);
  }
  return fitting;
}

function neededPixels<Row>(columns: readonly Column<Row>[]): number {
  const widths = columns.map(({ width, title }) => pixelsOf(width, title));
  const gaps = gapPixels * Math.max(0, columns.length - 1);
  return widths.reduce((sum, pixels) => sum + pixels, edgesPixels + gaps);
}

function pixelsOf(width: string, title: string): number {
  if (title === "Name") return namePixelsMin;
  const rem = /^(?:minmax\()?([\d.]+)rem/.exec(width)?.[1];
  return rem === undefined ? sharedPixelsMin : Number(rem) * remPixels;
}
