import type { SiteName } from "./plan.ts";
import { quietSeconds } from "./simulation.ts";

/** The result of one seed, as a line of the record. */
export interface SeedResult {
  readonly seed: number;
  readonly site: SiteName;
  readonly problems: readonly string[];
  readonly hash: string;
  readonly operations: number;
  readonly seconds: number;
  readonly idleCpuSeconds?: number;
  readonly events: number;
  readonly messages: number;
  readonly counts: readonly (readonly [string, number])[];
  readonly cpuSeconds: number;
  /** What each workload did. */
  readonly summary: readonly string[];
  /** By how much its operations were multiplied. */
  readonly long?: number;
}

/** The results in a record, of which an interrupted run may have left half a line. */
export function resultsIn(record: string): readonly SeedResult[] {
  return record.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as SeedResult];
    } catch {
      return [];
    }
  });
}

/** The sums of a run over many seeds. */
export class Totals {
  readonly wanted: number;
  readonly failed: number[] = [];
  readonly #seeds = new Set<number>();
  readonly #counts = new Map<string, number>();
  #operations = 0;
  #seconds = 0;
  #nodeOperations = 0;
  #nodeSeconds = 0;
  #cpuSeconds = 0;
  #idleSeconds = 0;
  #idleCpuSeconds = 0;

  constructor(wanted: number) {
    this.wanted = wanted;
  }

  has(seed: number): boolean {
    return this.#seeds.has(seed);
  }

  add(result: SeedResult): void {
    const { seed, site, problems, operations, seconds, cpuSeconds, counts } = result;
    if (this.#seeds.has(seed)) return;
    this.#seeds.add(seed);
    if (problems.length > 0) this.failed.push(seed);
    this.#operations += operations;
    this.#seconds += seconds;
    if (site === "nodes") {
      this.#nodeOperations += operations;
      this.#nodeSeconds += seconds;
    }
    this.#cpuSeconds += cpuSeconds;
    if (result.idleCpuSeconds !== undefined) {
      this.#idleSeconds += quietSeconds;
      this.#idleCpuSeconds += result.idleCpuSeconds;
    }
    for (const [name, times] of counts) {
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
    }
  }

  progress(): string {
    const failed = this.failed.length === 0 ? "" : `, failing: ${this.failed.join(", ")}`;
    return `${this.#seeds.size} of ${this.wanted} seeds, ${this.#operations} operations${failed}`;
  }

  report(): string {
    const hours = (this.#seconds / 3600).toFixed(1);
    const nodeHours = (this.#nodeSeconds / 3600).toFixed(1);
    const perSecond = Math.round(this.#operations / this.#cpuSeconds);
    const idleSpeed = Math.round(this.#idleSeconds / this.#idleCpuSeconds);
    const faults = [...this.#counts]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, times]) => `  ${name}: ${times}`);
    return [
      this.progress(),
      `${hours} simulated hours, ${perSecond} operations per second of CPU time`,
      `on several nodes: ${this.#nodeOperations} operations, ${nodeHours} simulated hours`,
      `idle servers: ${idleSpeed} simulated seconds per second of CPU time`,
      "faults:",
      ...faults,
      this.failed.length === 0 ? "no violation" : `${this.failed.length} seeds fail`,
    ].join("\n");
  }
}
