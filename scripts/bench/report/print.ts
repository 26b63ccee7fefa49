import { anonymousMegabytesMax } from "../goals.ts";
import type { Figures } from "../compare.ts";
import { percent } from "../results.ts";
import type { Result, Results } from "../results.ts";

const problemColumnsMax = 160;

/** Prints a line per server, and one with the ratios and missed goals. */
export function printResult(result: Result): void {
  const { name, figures } = result;
  for (const one of figures) console.log(`${name.padEnd(16)} ${lineOf(one, result.mebibytes)}`);
  const verdict = verdictOf(result);
  if (verdict !== "") console.log(`${name.padEnd(16)} ${verdict}`);
}

function lineOf(figures: Figures, mebibytes: number | undefined): string {
  const { perSecond, medianMilliseconds, p99Milliseconds, errors, problem } = figures;
  return [
    figures.server.padEnd(12),
    `${formatRate(perSecond).padStart(9)}/s`,
    ...(mebibytes === undefined ? [] : [`${(perSecond * mebibytes).toFixed(0)} MiB/s`]),
    `p50 ${medianMilliseconds.toFixed(2)} ms`,
    `p99 ${p99Milliseconds.toFixed(2)} ms`,
    `CPU ${figures.cpuMicrosecondsPerRequest.toFixed(1)} µs`,
    `RssAnon ${figures.anonymousMegabytes.toFixed(0)} MB`,
    `callers ${percent(figures.callersShare)}`,
    ...(errors > 0 ? [`${errors} errors`] : []),
    ...(problem === undefined ? [] : [problem.slice(0, problemColumnsMax)]),
  ].join("  ");
}

export function verdictOf({ name, figures, timesAzurite, shareOfPlain, goalsMissed }: Result) {
  const own = figures.find(({ server }) => server === "etagere");
  return [
    ...(timesAzurite === undefined ? [] : [`${timesAzurite.toFixed(1)} × Azurite`]),
    ...(shareOfPlain === undefined ? [] : [`${percent(shareOfPlain)} of plain`]),
    ...(name === "cas-hot" && own !== undefined
      ? [`slowest caller ${percent(own.slowestShare)} of the mean`]
      : []),
    ...(goalsMissed.length === 0 ? [] : [`MISSED: ${goalsMissed.join(", ")}`]),
  ].join(", ");
}

export function printSummary({ results, anonymousMegabytes }: Results): void {
  const tooMuch = anonymousMegabytes > anonymousMegabytesMax ? ", MISSED" : "";
  console.log(`\nanonymous memory at the end: ${anonymousMegabytes.toFixed(0)} MB${tooMuch}`);
  const missed = results.filter(({ goalsMissed }) => goalsMissed.length > 0);
  if (missed.length === 0) return;
  console.log(`goals missed: ${missed.map(({ name }) => name).join(", ")}`);
}

export function formatRate(perSecond: number): string {
  if (Number.isNaN(perSecond)) return "–";
  const digits = perSecond < 10 ? 2 : perSecond < 1000 ? 1 : 0;
  return perSecond.toLocaleString("en", { maximumFractionDigits: digits });
}
