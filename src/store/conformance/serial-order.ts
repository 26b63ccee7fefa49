import { expect } from "vitest";

import type { Store } from "../store.ts";
import { committedStepsOf, queueOf, runSerially } from "./queue-steps.ts";

/** Checks that `count` steps were committed, and that each read what it would have read if they had
 *  run one after the other in commit order. */
export async function expectSerialOrder(store: Store, count: number): Promise<void> {
  const committed = await committedStepsOf(store);
  expect(committed).toHaveLength(count);
  const serial = runSerially(committed);
  expect(committed.map(({ found }) => found)).toEqual(serial.found);
  expect(await queueOf(store)).toEqual(serial.queue);
}
