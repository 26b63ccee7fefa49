import { describe } from "vitest";

import { describeContention } from "./conformance/contention.ts";
import { describeCounters } from "./conformance/counters.ts";
import type { NewStore } from "./conformance/harness.ts";
import { describeIsolation } from "./conformance/isolation.ts";
import { describeLifetime } from "./conformance/lifetime.ts";
import { describeRunCounts } from "./conformance/run-counts.ts";
import { describeOrder } from "./conformance/order.ts";
import { describeTaking } from "./conformance/taking.ts";

export interface ConformanceOptions {
  /** Work runs no more often than it has to, so that runs can be counted. */
  readonly runsAreCounted?: boolean;
}

/** What every engine has to keep, run by each of them. */
export function storeConformance(
  name: string,
  newStore: NewStore,
  { runsAreCounted = true }: ConformanceOptions = {},
): void {
  describe(`${name} conforms`, () => {
    describeIsolation(newStore);
    // Forced conflicts run work more often than these expect.
    if (runsAreCounted) describeRunCounts(newStore);
    describeContention(newStore);
    describeCounters(newStore);
    describeOrder(newStore);
    describeTaking(newStore);
    describeLifetime(newStore);
  });
}
