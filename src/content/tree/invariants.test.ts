import { expect, it } from "vitest";

import { InvariantBroken } from "../../base/invariant.ts";
import { setReferences } from "./node-references.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { Attempt } from "../../store/attempt.ts";
import { Committer, type QueuedTransaction, type WorkResult } from "../../store/committer.ts";
import { memoryEngine, openMemoryStore } from "../../store/memory/open-memory-store.ts";

/** The invariants that stay on in production; each must fire. */

/** Commits one transaction whose commit is reported with these sequences. */
async function committedAs(previous: number, sequence: number): Promise<WorkResult> {
  const commit = { previous, sequence, writes: [] };
  const committer = new Committer({
    commits: { commit: async () => ({ kind: "committed", dropped: new Set(), commit }) },
    clock: manualClock(),
    nextTicks: () => 0n,
    onCommitted: () => {},
  });
  const view = memoryEngine().open();
  return new Promise((settle) => {
    const queued: QueuedTransaction = {
      work: () => undefined,
      attemptsMax: 1,
      settle,
      attempt: new Attempt(view, 0n),
      result: { value: "done" },
      attemptsUsed: 1,
      externalConflicts: 0,
      isStale: false,
    };
    committer.submit(queued);
  });
}

it("a commit raises the sequence of the store", async () => {
  expect(await committedAs(4, 5)).toEqual({ value: "done" });
  for (const sequence of [4, 3]) {
    const result = await committedAs(4, sequence);
    expect("error" in result && result.error).toBeInstanceOf(InvariantBroken);
  }
});

it("a content node has at least one reference", async () => {
  const store = openMemoryStore({ clock: manualClock() });
  const set = (references: number) => store.transact((tx) => setReferences(tx, 7n, references));
  await set(2);
  await set(1);
  for (const references of [0, -1, Number.NaN]) {
    await expect(set(references)).rejects.toThrow(InvariantBroken);
  }
});
