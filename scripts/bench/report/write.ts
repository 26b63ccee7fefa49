import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { goals } from "../goals.ts";
import type { Results } from "../results.ts";
import { plotRates, plotRatios } from "./bars.ts";
import { resultsText } from "./tables.ts";

export function writeResults(folder: string, whole: Results): void {
  const json = jsonOf(whole);
  write(folder, "results.json", json);
  // Rendered from the rounded figures, so that `npm run docs` renders the same page from the file.
  const rounded = JSON.parse(json) as Results;
  for (const [name, plot] of resultsPlots(rounded)) write(folder, name, plot);
  writeSection(folder, "results", resultsText(rounded));
  console.log(`written to ${folder}`);
}

/** The plots of the results section, by file name. */
export function resultsPlots({ results }: Results): ReadonlyMap<string, string> {
  const goalOf = (name: string): number | undefined => goals[name]?.timesAzurite;
  return new Map([
    ["rates.svg", plotRates(results)],
    ["ratios.svg", plotRatios(results, goalOf)],
  ]);
}

/** Numbers are rounded to 6 significant digits. */
export function jsonOf(value: unknown): string {
  const short = (_: string, one: unknown): unknown =>
    typeof one === "number" ? Number(one.toPrecision(6)) : one;
  return `${JSON.stringify(value, short, 1)}\n`;
}

export function write(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Replaces the part of the page between the markers of `name`; the rest is written by hand. */
export function writeSection(folder: string, name: string, text: string): void {
  const path = join(folder, "README.md");
  const page = existsSync(path) ? readFileSync(path, "utf8") : emptyPage(name);
  writeFileSync(path, withSection(page, name, text));
}

export function withSection(page: string, name: string, text: string): string {
  const { begin, end } = marksOf(name);
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) return `${page}\n${begin}\n\n${text}\n\n${end}\n`;
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`;
}

function emptyPage(name: string): string {
  const { begin, end } = marksOf(name);
  return `# Benchmarks\n\n${begin}\n${end}\n`;
}

function marksOf(name: string): { readonly begin: string; readonly end: string } {
  return { begin: `<!-- ${name}: begin -->`, end: `<!-- ${name}: end -->` };
}
