import type { Result } from "../results.ts";
import { formatRate } from "./print.ts";
import { element, label, picture } from "./svg.ts";

const colours: Readonly<Record<string, string>> = {
  etagere: "#1f6feb",
  azurite: "#bf8700",
  plain: "#8c959f",
};
const width = 860;
const left = 240;
const right = 90;
const barHeight = 13;
const gap = 12;
const top = 50;

/** Rates on a logarithmic scale: they differ by a factor of up to 100,000. */
export function plotRates(results: readonly Result[]): string {
  const rates = results.flatMap(({ figures }) => figures.map(({ perSecond }) => perSecond));
  const largest = Math.log10(Math.max(10, ...rates.filter((rate) => rate > 0)));
  const smallest = Math.min(0, ...rates.filter((rate) => rate > 0).map((rate) => Math.log10(rate)));
  const low = Math.floor(smallest);
  const scale = (width - left - right) / (largest - low);
  const parts: string[] = [...legend()];
  let y = top;
  for (const { title, figures } of results) {
    const middle = y + (figures.length * barHeight) / 2 + 4;
    parts.push(label({ x: left - 10, y: middle, "text-anchor": "end" }, title));
    for (const { server, perSecond } of figures) {
      const length = perSecond > 0 ? Math.max(1, (Math.log10(perSecond) - low) * scale) : 0;
      const fill = colours[server] ?? "#8c959f";
      parts.push(
        element("rect", { x: left, y, width: length, height: barHeight - 2, fill }),
        label(
          { x: left + length + 5, y: y + barHeight - 3, "font-size": 10, fill: "#57606a" },
          `${formatRate(perSecond)}/s`,
        ),
      );
      y += barHeight;
    }
    y += gap;
  }
  return picture({ width, height: y + 10 }, parts);
}

function legend(): readonly string[] {
  return Object.entries(colours).flatMap(([server, fill], index) => {
    const x = left + index * 150;
    const name = { etagere: "Etagere", azurite: "Azurite", plain: "plain Node" }[server] ?? server;
    return [
      element("rect", { x, y: 16, width: 12, height: 12, fill }),
      label({ x: x + 18, y: 26 }, name),
    ];
  });
}

/** The rate as a multiple of Azurite's, with a mark at the goal; red if the goal is missed. */
export function plotRatios(
  results: readonly Result[],
  goalOf: (name: string) => number | undefined,
) {
  const compared = results.filter(({ timesAzurite }) => timesAzurite !== undefined);
  const shown = compared.flatMap(({ name, timesAzurite = 1 }) => [timesAzurite, goalOf(name) ?? 1]);
  const largest = Math.log10(Math.max(10, ...shown));
  const low = -1;
  const scale = (width - left - right) / (largest - low);
  const at = (ratio: number): number => left + (Math.log10(Math.max(0.1, ratio)) - low) * scale;
  const rows = compared.map(({ name, title, timesAzurite = 0 }, index) => {
    const y = top + index * (barHeight + 8);
    const goal = goalOf(name);
    const fill = goal === undefined || timesAzurite >= goal ? "#1a7f37" : "#cf222e";
    return [
      label({ x: left - 10, y: y + 11, "text-anchor": "end" }, title),
      element("rect", { x: left, y, width: at(timesAzurite) - left, height: barHeight, fill }),
      label(
        { x: at(timesAzurite) + 8, y: y + 11, "font-size": 11 },
        `${formatRate(timesAzurite)} ×`,
      ),
      ...(goal === undefined
        ? []
        : [element("rect", { x: at(goal) - 1, y: y - 2, width: 2, height: barHeight + 4 })]),
    ].join("\n");
  });
  const title = "Steps per second, as a multiple of Azurite's. Black mark: goal. Red: goal missed";
  const height = top + compared.length * (barHeight + 8) + 10;
  return picture({ width, height }, [label({ x: left, y: 26 }, title), ...rows]);
}
