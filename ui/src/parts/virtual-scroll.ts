/** Height of the scrolled element. Browsers limit it; for longer lists scroll positions are
 *  scaled. */
const heightPixelsMax = 8_000_000;

export interface Viewport {
  readonly rowCount: number;
  readonly rowPixels: number;
  readonly heightPixels: number;
}

export interface Window {
  /** Height of the scrolled element. */
  readonly spacePixels: number;
  readonly first: number;
  readonly last: number;
  /** Position of the first rendered row. */
  readonly offsetPixels: number;
}

const marginRows = 6;

export function windowAt(viewport: Viewport, scrollPixels: number): Window {
  const { rowCount, rowPixels, heightPixels } = viewport;
  const fullPixels = rowCount * rowPixels;
  const spacePixels = Math.min(fullPixels, heightPixelsMax);
  const top = topOf(viewport, scrollPixels);
  const first = Math.max(0, Math.floor(top / rowPixels) - marginRows);
  const visible = Math.ceil(heightPixels / rowPixels);
  const last = Math.min(rowCount - 1, Math.floor(top / rowPixels) + visible + marginRows);
  return { spacePixels, first, last, offsetPixels: scrollPixels - (top - first * rowPixels) };
}

/** The scroll position in the full height of all rows, before scaling. */
function topOf({ rowCount, rowPixels, heightPixels }: Viewport, scrollPixels: number): number {
  const fullPixels = rowCount * rowPixels;
  if (fullPixels <= heightPixelsMax) return scrollPixels;
  return (scrollPixels / (heightPixelsMax - heightPixels)) * (fullPixels - heightPixels);
}

/** The scroll position that makes a row visible; unchanged if it is visible. */
export function scrollTo(viewport: Viewport, scrollPixels: number, row: number): number {
  const { rowCount, rowPixels, heightPixels } = viewport;
  const top = topOf(viewport, scrollPixels);
  const rowTop = row * rowPixels;
  let wanted = top;
  if (rowTop < top) wanted = rowTop;
  if (rowTop + rowPixels > top + heightPixels) wanted = rowTop + rowPixels - heightPixels;
  if (wanted === top) return scrollPixels;
  const fullPixels = rowCount * rowPixels;
  if (fullPixels <= heightPixelsMax) return wanted;
  return (wanted / (fullPixels - heightPixels)) * (heightPixelsMax - heightPixels);
}
