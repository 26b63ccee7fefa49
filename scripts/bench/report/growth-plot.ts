import { growthMax } from "../goals.ts";
import { element, label, picture } from "./svg.ts";
import type { ComparedOperation } from "./cost-table.ts";

const width = 860;
const left = 240;
const right = 120;
const rowHeight = 24;
const top = 50;
const colours = ["#9ec5fe", "#4184e4", "#0b3d91"];

/** For each operation a point per number of stored objects: its cost relative to the first. */
export function plotGrowth(grown: readonly ComparedOperation[]): string {
  const largest = Math.max(2, ...grown.flatMap((one) => relative(one)));
  const scale = (width - left - right) / largest;
  const bottom = top + grown.length * rowHeight;
  const goal = left + growthMax * scale;
  const marks = [
    element("line", { x1: left + scale, x2: left + scale, y1: top, y2: bottom, stroke: "#d0d7de" }),
    element("line", { x1: goal, x2: goal, y1: top, y2: bottom, stroke: "#cf222e" }),
    label({ x: goal, y: top - 8, "font-size": 10, fill: "#cf222e" }, `× ${growthMax}`),
  ];
  const rows = grown.map((one, index) => rowOf(one, top + index * rowHeight + 14, scale));
  const title = "CPU per request by the number of stored objects (light: few, dark: many)";
  return picture({ width, height: bottom + 16 }, [
    label({ x: 20, y: 24 }, title),
    ...marks,
    ...rows,
  ]);
}

function relative({ figures }: ComparedOperation): readonly number[] {
  const first = figures[0]?.cpuMicrosecondsPerRequest ?? 1;
  return figures
    .map(({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest / first)
    .filter(Number.isFinite);
}

function rowOf(grown: ComparedOperation, y: number, scale: number): string {
  const values = relative(grown);
  const dots = values.map((value, index) =>
    element("circle", { cx: left + value * scale, cy: y, r: 5, fill: colours[index] ?? "#0b3d91" }),
  );
  const name = { x: left - 10, y: y + 4, "text-anchor": "end" };
  const last = values.at(-1) ?? 0;
  return [
    label(name, grown.title),
    ...dots,
    label({ x: width - right + 60, y: y + 4 }, `× ${last.toFixed(2)}`),
  ].join("\n");
}
