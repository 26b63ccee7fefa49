import type { Column } from "./grid-types.ts";

const remPixels = 16;
/** Least width of a column that shares the remaining space: enough to tell names apart. */
const sharedPixelsMin = 96;
const namePixelsMin = 240;
/** Width of names below which the size gives way, too: the end of a name and some of its begin. */
const shortNamePixelsMin = 120;
const gapPixels = 12;
const edgesPixels = 43;

/** The columns for which a list of this width has space. Minor columns are left out, from the left
 *  on, until the name has enough; the last of them only if the name would be unreadable. */
export function fittingColumns<Row>(
  columns: readonly Column<Row>[],
  widthPixels: number,
): readonly Column<Row>[] {
  const fitting = withoutMinor(columns, true, (left) => neededPixels(left) > widthPixels);
  const surplus = namePixelsMin - shortNamePixelsMin;
  return withoutMinor(fitting, "last", (left) => neededPixels(left) - surplus > widthPixels);
}

function withoutMinor<Row>(
  columns: readonly Column<Row>[],
  kind: true | "last",
  isTooWide: (left: readonly Column<Row>[]) => boolean,
): readonly Column<Row>[] {
  const minor = columns.findIndex(({ isMinor }) => isMinor === kind);
  if (minor < 0 || !isTooWide(columns)) return columns;
  const left = columns.filter((_, index) => index !== minor);
  return withoutMinor(left, kind, isTooWide);
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
