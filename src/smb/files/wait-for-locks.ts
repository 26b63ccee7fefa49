import type { FileResult, FileResultOrWait } from "../../file/filesystem/file-result.ts";
import { breakSecondsMax } from "../../file/locks/caching.ts";
import { locks } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import type { RequestLifetime } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import { statusOf } from "./status-of.ts";

/** More turns than anybody takes while a break runs. */
const turnsMax = 10_000;
const wakeMilliseconds = (breakSecondsMax + 1) * 1000;

export type LockWaitResult<T> =
  | FileResult<T>
  | { readonly kind: "cancelled" }
  | { readonly kind: "cannot-wait"; readonly status: NtStatus };

/** What a message ends with that did not get what it waited for. */
export function statusOfWait(
  outcome: Exclude<LockWaitResult<unknown>, { kind: "done" }>,
): NtStatus {
  switch (outcome.kind) {
    case "refused":
      return statusOf(outcome.refusal);
    case "cancelled":
      return Status.cancelled;
    case "cannot-wait":
      return outcome.status;
  }
}

/**
 * Asks again whenever the locks of the file change that stands in the way, and at the latest when
 * a break has run out: then the file system itself says what that means.
 */
export async function waitForLocks<T>(
  { world }: SmbServerState,
  share: bigint,
  life: RequestLifetime,
  ask: () => Promise<FileResultOrWait<T>>,
): Promise<LockWaitResult<T>> {
  const { store, clock } = { store: world.runtime.store, clock: world.clock };
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const bell = newBell();
    const first = await ask();
    if (first.kind !== "wait") return first;
    const status = life.goAsync();
    if (status !== undefined) return { kind: "cannot-wait", status };
    const unwatch = store.watch(locks.key({ share, id: first.file }), bell.ring);
    const cancelTimer = clock.after(wakeMilliseconds, bell.ring);
    const cancelWish = life.onCancel(bell.ring);
    try {
      // What changed before the watch began is seen by asking once more.
      const second = await ask();
      if (second.kind !== "wait") return second;
      await bell.heard;
    } finally {
      unwatch();
      cancelTimer();
      cancelWish();
    }
    if (life.isCancelled) return { kind: "cancelled" };
  }
  throw new Error("an SMB message waited too often");
}

function newBell() {
  let ring = (): void => {};
  const heard = new Promise<void>((resolve) => {
    ring = resolve;
  });
  return { ring: () => ring(), heard };
}
