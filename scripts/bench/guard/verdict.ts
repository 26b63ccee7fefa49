import type { Cost } from "./cost.ts";

/** What was measured once and agreed to, with the speed of the machine that it was measured on. */
export interface Baseline {
  readonly node: string;
  /** CPU time of a fixed piece of work. */
  readonly yardstickMicroseconds: number;
  readonly costs: Readonly<Record<string, Cost>>;
}

export interface Tolerance {
  readonly cpu: number;
  readonly allocation: number;
}

/** Time is never the same twice; bytes nearly are. */
export const tolerance: Tolerance = { cpu: 0.3, allocation: 0.06 };

export interface Verdict {
  readonly name: string;
  /** As a multiple of the baseline, on a machine of the same speed. */
  readonly cpu: number;
  readonly allocation: number;
  readonly worse: boolean;
}

export function verdictOn(name: string, now: Baseline, agreed: Baseline): Verdict | undefined {
  const cost = now.costs[name];
  const before = agreed.costs[name];
  if (cost === undefined || before === undefined) return undefined;
  const speed = now.yardstickMicroseconds / agreed.yardstickMicroseconds;
  const cpu = cost.cpuMicroseconds / before.cpuMicroseconds / speed;
  const allocation = cost.allocatedBytes / before.allocatedBytes;
  const worse = cpu > 1 + tolerance.cpu || allocation > 1 + tolerance.allocation;
  return { name, cpu, allocation, worse };
}
