import type { Figures, Rounds } from "../compare.ts";
import { anonymousMegabytesMax, goals } from "../goals.ts";
import { percent } from "../results.ts";
import type { Machine, Result, Results } from "../results.ts";
import { formatRate } from "./print.ts";

export function machineText(machine: Machine): string {
  const { processor, cores, memoryGigabytes, kernel, node, commit, date } = machine;
  const size = `${cores} cores, ${memoryGigabytes} GB`;
  const system = `Linux ${kernel}, Node ${node}`;
  return `${date}, commit ${commit}; ${processor}, ${size}; ${system}.`;
}

export function loadText({ connections, rounds, seconds }: Rounds): string {
  return `${connections} connections, ${rounds} alternating rounds of ${seconds} s; medians.`;
}

/** The results section of the benchmark page, in Markdown. */
export function resultsText(whole: Results): string {
  const { results, machine, azurite, anonymousMegabytes } = whole;
  const memory =
    `Anonymous memory (RssAnon) after everything but TLS: ${anonymousMegabytes.toFixed(0)} MB ` +
    `(goal: at most ${anonymousMegabytesMax}${missedText(anonymousMegabytes)}).`;
  return [
    machineText(machine),
    `${loadText(whole.load)}${azurite === undefined ? "" : ` Azurite ${azurite}.`}`,
    ["![Steps per second](rates.svg)", "![Multiple of Azurite's rate](ratios.svg)"].join("\n\n"),
    [...header(), ...results.map(rowOf)].join("\n"),
    goalsText(results),
    "For each server: steps per second (median of the rounds; lowest and highest), median and " +
      "99th percentile of the latency in milliseconds, CPU per request in microseconds (all " +
      "threads). Errors are requests without a response, in all rounds.",
    [...detailHeader(), ...results.flatMap(detailRows)].join("\n"),
    memory,
  ].join("\n\n");
}

function header(): readonly string[] {
  const names = ["operation", "Etagere", "Azurite", "×", "goal", "plain Node", "share", "goal"];
  return [`| ${names.join(" | ")} |`, `|---${"|---:".repeat(names.length - 1)}|`];
}

function rowOf(result: Result): string {
  const { name, title, timesAzurite, shareOfPlain } = result;
  const goal = goals[name] ?? {};
  const rate = (server: string): string => {
    const found = result.figures.find((one) => one.server === server);
    return found === undefined ? "" : rateText(found, result);
  };
  const cells = [
    title,
    rate("etagere"),
    rate("azurite"),
    timesAzurite === undefined
      ? ""
      : judged(formatRate(timesAzurite), timesAzurite >= (goal.timesAzurite ?? 0)),
    goal.timesAzurite === undefined ? "" : `≥ ${goal.timesAzurite}`,
    rate("plain"),
    shareOfPlain === undefined
      ? ""
      : judged(percent(shareOfPlain), shareOfPlain >= (goal.shareOfPlain ?? 0)),
    goal.shareOfPlain === undefined ? "" : `≥ ${percent(goal.shareOfPlain)}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Bold if there is no goal or it is met; otherwise marked as missed. */
export function judged(text: string, isMet: boolean): string {
  return isMet ? `**${text}**` : `${text}, missed`;
}

function missedText(anonymousMegabytes: number): string {
  return anonymousMegabytes > anonymousMegabytesMax ? ", missed" : "";
}

function goalsText(results: readonly Result[]): string {
  const missed = results.filter(({ goalsMissed }) => goalsMissed.length > 0);
  const compared = results.filter(({ name }) => goals[name] !== undefined).length;
  if (missed.length === 0) return `All ${compared} operations with a goal meet it.`;
  const names = missed.map(({ title }) => title).join("; ");
  return `**Goals missed** by ${missed.length} of ${compared} operations: ${names}.`;
}

function rateText({ perSecond }: Figures, { mebibytes }: Result): string {
  if (mebibytes === undefined) return `${formatRate(perSecond)}/s`;
  return `${formatRate(perSecond * mebibytes)} MiB/s`;
}

function detailHeader(): readonly string[] {
  const names = ["operation", "server", "steps/s", "of all rounds", "p50", "p99", "CPU"];
  const all = [...names, "RssAnon MB", "errors"];
  return [`| ${all.join(" | ")} |`, `|---|---${"|---:".repeat(all.length - 2)}|`];
}

function spreadOf(rates: readonly number[]): string {
  return `${formatRate(Math.min(...rates))} – ${formatRate(Math.max(...rates))}`;
}

function detailRows({ name, figures }: Result): readonly string[] {
  return figures.map((one) => {
    const cells = [
      name,
      one.server,
      formatRate(one.perSecond),
      spreadOf(one.rounds),
      one.medianMilliseconds.toFixed(2),
      one.p99Milliseconds.toFixed(2),
      one.cpuMicrosecondsPerRequest.toFixed(1),
      one.anonymousMegabytes.toFixed(0),
      one.errors === 0 ? "" : String(one.errors),
    ];
    return `| ${cells.join(" | ")} |`;
  });
}
