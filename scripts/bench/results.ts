import { execFileSync } from "node:child_process";
import { cpus, release, totalmem } from "node:os";
import type { Figures, Rounds } from "./compare.ts";
import { goals } from "./goals.ts";
import type { Scenario } from "./scenarios/scenario.ts";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGigabytes: number;
  readonly kernel: string;
  readonly node: string;
  /** Of the sources that were measured; marked if they differ from it. */
  readonly commit: string;
  readonly date: string;
}

/** One operation, with every server that could do it. */
export interface Result {
  readonly name: string;
  readonly title: string;
  readonly mebibytes?: number | undefined;
  readonly figures: readonly Figures[];
  readonly timesAzurite?: number | undefined;
  readonly shareOfPlain?: number | undefined;
  readonly goalsMissed: readonly string[];
}

export interface Results {
  readonly machine: Machine;
  readonly load: Rounds;
  readonly azurite: string | undefined;
  readonly results: readonly Result[];
  /** Of our own server, after everything. */
  readonly anonymousMegabytes: number;
}

export function resultOf(scenario: Scenario, figures: readonly Figures[]): Result {
  const { name, title, mebibytes } = scenario;
  const own = figures.find(({ server }) => server === "etagere");
  const ratioTo = (other: string): number | undefined => {
    const rate = figures.find(({ server }) => server === other)?.perSecond;
    if (own === undefined || rate === undefined || !(rate > 0)) return undefined;
    return own.perSecond / rate;
  };
  const timesAzurite = ratioTo("azurite");
  const shareOfPlain = ratioTo("plain");
  const { slowestShare } = own ?? {};
  const goalsMissed = missed(name, { timesAzurite, shareOfPlain, slowestShare });
  return { name, title, mebibytes, figures, timesAzurite, shareOfPlain, goalsMissed };
}

interface Reached {
  readonly timesAzurite: number | undefined;
  readonly shareOfPlain: number | undefined;
  readonly slowestShare: number | undefined;
}

function missed(name: string, reached: Reached): readonly string[] {
  const goal = goals[name] ?? {};
  const isMissed = (value: number | undefined, least: number | undefined): boolean =>
    value !== undefined && least !== undefined && value < least;
  return [
    ...(isMissed(reached.timesAzurite, goal.timesAzurite) ? [`${goal.timesAzurite}×`] : []),
    ...(isMissed(reached.shareOfPlain, goal.shareOfPlain)
      ? [`${percent(goal.shareOfPlain ?? 0)} of plain`]
      : []),
    ...(isMissed(reached.slowestShare, goal.slowestShare)
      ? [`slowest caller ${percent(goal.slowestShare ?? 0)}`]
      : []),
  ];
}

export function machineNow(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    kernel: /^\d+\.\d+/.exec(release())?.[0] ?? release(),
    node: process.versions.node,
    commit: commitNow(),
    date: new Date().toISOString().slice(0, 10),
  };
}

function commitNow(): string {
  try {
    const git = (...words: string[]): string =>
      execFileSync("git", words, { encoding: "utf8" }).trim();
    const changed = git("status", "--porcelain", "--", "src") === "" ? "" : " with changes";
    return git("rev-parse", "--short=10", "HEAD") + changed;
  } catch {
    return "unknown";
  }
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
