import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { plotGrowth } from "../bench/report/growth-plot.ts";
import { resultsText } from "../bench/report/tables.ts";
import { growthText, type Growth } from "../bench/report/write-growth.ts";
import { versionsText, type VersionFigures } from "../bench/report/write-versions.ts";
import { resultsPlots, withSection } from "../bench/report/write.ts";
import type { Results } from "../bench/results.ts";

const folder = "docs/bench";

/** Renders the measured figures (`results.json`, `growth.json`, `node-versions.json`) into the
 *  marked sections of the benchmark page and its plots, so that a changed goal or text needs no new
 *  measurement. Returns the files by path. */
export function benchFiles(): ReadonlyMap<string, string> {
  const results = readJson("results.json") as Results;
  const growth = readJson("growth.json") as Growth;
  const page = readFileSync(join(folder, "README.md"), "utf8");
  const withResults = withSection(page, "results", resultsText(results));
  const withGrowth = withSection(withResults, "growth", growthText(growth));
  const files = [
    ...resultsPlots(results),
    ["growth.svg", plotGrowth(growth.grown)] as const,
    ["README.md", withVersions(withGrowth)] as const,
  ];
  return new Map(files.map(([name, text]) => [join(folder, name), text]));
}

/** Unchanged if the versions of Node were not measured. */
function withVersions(page: string): string {
  if (!existsSync(join(folder, "node-versions.json"))) return page;
  const versions = readJson("node-versions.json") as VersionFigures;
  return withSection(page, "node-versions", versionsText(versions));
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), "utf8"));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const [path, text] of benchFiles()) writeFileSync(path, text);
}
