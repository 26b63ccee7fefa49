import { describe } from "vitest";

import { describeContention } from "./conformance/contention.ts";
import { describeCounters } from "./conformance/counters.ts";
import type { NewStore } from "./conformance/harness.ts";
import { describeIsolation } from "./conformance/isolation.ts";
import { describeLifetime } from "./conformance/lifetime.ts";
import { describeRunCounts } from "./conformance/run-counts.ts";
import { describeOrder } from "./conformance/order.ts";
import { describeHeadReads } from "./conformance/head-reads.ts";

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
    describeOrder(newStore);
    describeHeadReads(newStore);
    describeLifetime(newStore);
  });
}
