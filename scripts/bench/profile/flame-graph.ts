import { element, label, picture, tip } from "../report/svg.ts";
import type { Frame } from "./call-tree.ts";

const width = 1200;
const rowHeight = 17;
const top = 34;
/** Narrower frames are omitted as invisible. */
const widthMin = 1;
const labelWidthMin = 36;
const characterWidth = 6.2;
const colours = {
  own: ["#8ab4f8", "#a0c3ff", "#78a9f5"],
  package: ["#f6c26b", "#f9d08b", "#efb453"],
  node: ["#c9d1d9", "#d6dde3", "#bcc5ce"],
  engine: ["#f28b82", "#f5a39b", "#ee7a70"],
} as const;

/** Callers above their callees; the width is the time spent. */
export function flameGraph(root: Frame, title: string): string {
  const parts: string[] = [];
  let depthMax = 0;
  const draw = (frame: Frame, x: number, depth: number): void => {
    const frameWidth = (frame.microseconds / root.microseconds) * width;
    if (frameWidth < widthMin) return;
    depthMax = Math.max(depthMax, depth);
    parts.push(box(frame, { x, y: top + depth * rowHeight, width: frameWidth }, root.microseconds));
    let left = x;
    const called = [...frame.called.values()].toSorted((a, b) => b.microseconds - a.microseconds);
    for (const next of called) {
      draw(next, left, depth + 1);
      left += (next.microseconds / root.microseconds) * width;
    }
  };
  draw(root, 0, 0);
  const height = top + (depthMax + 2) * rowHeight;
  return picture({ width, height }, [label({ x: 8, y: 20, "font-size": 14 }, title), ...parts]);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

function box({ name, place, microseconds }: Frame, { x, y, ...size }: Box, all: number): string {
  const share = ((microseconds / all) * 100).toFixed(1);
  const fill = colourOf(name, place);
  const rect = element(
    "rect",
    { x, y, width: size.width, height: rowHeight - 1, fill },
    tip(`${name} ${place} ${share} %`),
  );
  if (size.width < labelWidthMin) return rect;
  const shown = name.slice(0, Math.floor((size.width - 6) / characterWidth));
  return rect + label({ x: x + 3, y: y + 12, "font-size": 10.5 }, shown);
}

/** Varies the colour slightly, so that adjacent frames can be distinguished. */
function colourOf(name: string, place: string): string {
  const shades = colours[kindOf(place)];
  let sum = 0;
  for (const character of name) sum += character.codePointAt(0) ?? 0;
  return shades[sum % shades.length] ?? shades[0];
}

function kindOf(place: string): keyof typeof colours {
  if (place === "") return "engine";
  if (place.startsWith("node:")) return "node";
  return place.includes("node_modules") ? "package" : "own";
}
