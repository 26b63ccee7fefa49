import { describe } from "vitest";

import { describeContention } from "./contention.ts";
import { describeCounters } from "./counters.ts";
import type { NewStore } from "./harness.ts";
import { describeIsolation } from "./isolation.ts";
import { describeLifetime } from "./lifetime.ts";
import { describeRunCounts } from "./run-counts.ts";
import { describeLogs } from "./logs.ts";
import { describeOrder } from "./order.ts";
import { describeHeadReads } from "./head-reads.ts";

export interface ConformanceOptions {
  /** Whether the store runs work no more often than necessary, so that tests may count the
   *  attempts. */
  readonly runsAreCounted?: boolean;
}

/** The conformance suite that every engine must pass. */
export function storeConformance(
  name: string,
  newStore: NewStore,
  { runsAreCounted = true }: ConformanceOptions = {},
): void {
  describe(`${name} conforms`, () => {
    describeIsolation(newStore);
    // With forced conflicts work runs more often than these tests expect.
    if (runsAreCounted) describeRunCounts(newStore);
    describeContention(newStore);
    describeCounters(newStore);
    describeLogs(newStore);
    describeOrder(newStore);
    describeHeadReads(newStore);
    describeLifetime(newStore);
  });
}
