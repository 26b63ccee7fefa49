import { Right } from "../../src/file/locks/access.ts";
import type { LockState } from "../../src/file/locks/lock-state.ts";
import type { NodeRecord } from "../../src/file/records.ts";
import { testLocks, testOpen, testShare } from "./file-decisions.ts";
import type { FileDecision } from "../../src/file/filesystem/file-result.ts";

/** A handle (1) and another client's (2) for tables of decisions. */

export const reference = {
  share: { accountName: "a", account: 1n, name: "share", id: testShare.id },
  file: 3n,
};
export const handle = 1n;
export const now = 100n;
export const key = { share: testShare.id, parent: 2n, folded: "FILE" };
export const own = testOpen({ id: handle, access: Right.readData | Right.writeData });
export const other = testOpen({ id: 2n });
export const newId = () => 99n;

export function loadedFile(node: NodeRecord, locks: LockState = testLocks([own])) {
  return { share: testShare, key, node, locks };
}

/** The fault, `wait` or `reply`. */
export function kindOf(decision: FileDecision<unknown> | readonly object[]): string {
  if ("fault" in decision) return decision.fault;
  return "wait" in decision ? "wait" : "reply";
}

export const rangeLock = { offset: 100n, length: 10n };
/** The lock state with a lock of the given handle on bytes 100 to 109. */
export const lockedBy = (open: bigint, exclusive: boolean) =>
  testLocks([own, other], { ranges: [{ ...rangeLock, open, exclusive }] });
/** The lock state with a caching grant of the given handle. */
export const cachedBy = (open: bigint, held: number) =>
  testLocks(
    [own, other].map((each) => (each.id === open ? { ...each, cacheKey: "lease" } : each)),
    { caches: [{ key: "lease", held, epoch: 1 }] },
  );
