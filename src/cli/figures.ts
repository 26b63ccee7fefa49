import type { ContentFigures } from "../commands/content-count.ts";

const byteUnits = ["KiB", "MiB", "GiB", "TiB", "PiB"] as const;

interface Terminal {
  readonly columns?: number | undefined;
}

/** The width of a terminal, or `otherwise` if it does not report one. Some report 0: a serial line,
 *  or a pseudo terminal without a window. */
export function columnsOf({ columns }: Terminal, otherwise: number): number {
  return columns === undefined || columns <= 0 ? otherwise : columns;
}

/** "512 bytes", "2.4 MiB". */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} bytes`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < byteUnits.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${byteUnits[unit]}`;
}

export function countText(count: number): string {
  return Math.round(count).toLocaleString("en");
}

/** "5,002 contents with 2.4 MiB". */
export function contentText({ contents, contentBytes }: ContentFigures): string {
  return `${countText(contents)} contents with ${sizeText(contentBytes)}`;
}
