import type { FileResult, FileResultOrWait } from "../../file/filesystem/file-result.ts";
import type { ByteSpan } from "../../file/locks/byte-ranges.ts";
import { breakSecondsMax } from "../../file/locks/caching.ts";
import { locks } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import type { RequestLifetime } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import { statusOf } from "./status-of.ts";

/** Attempts of one request. Only bounds the loop: locks change less often than this during a
 *  wait. */
const rerunsMax = 10_000;
const wakeMilliseconds = (breakSecondsMax + 1) * 1000;

export type LockWaitResult<T> =
  | FileResult<T>
  | { readonly kind: "cancelled" }
  | { readonly kind: "cannot-wait"; readonly status: NtStatus };

/** The status of a request that failed or could not wait. */
export function statusOfWait(
  outcome: Exclude<LockWaitResult<unknown>, { kind: "done" }>,
): NtStatus {
  switch (outcome.kind) {
    case "fault":
      return statusOf(outcome.fault);
    case "cancelled":
      return Status.cancelled;
    case "cannot-wait":
      return outcome.status;
  }
}

/** What a request waits with: its lifetime, and the byte ranges that it wants to lock. */
export interface LockWaiter {
  readonly lifetime: RequestLifetime;
  readonly ranges?: readonly ByteSpan[];
}

/**
 * Runs `attempt` until it need not wait: again whenever the lock record of the file changes that it
 * waits for, and at the latest when a break has timed out. Sends an interim response before the
 * first wait.
 */
export async function waitForLocks<T>(
  { world, lockWaits }: SmbServerState,
  share: bigint,
  { lifetime, ranges }: LockWaiter,
  attempt: () => Promise<FileResultOrWait<T>>,
): Promise<LockWaitResult<T>> {
  const { store, clock } = { store: world.runtime.store, clock: world.clock };
  for (let rerun = 0; rerun < rerunsMax; rerun += 1) {
    const signal = newSignal();
    const first = await attempt();
    if (first.kind !== "wait") return first;
    const status = lifetime.goAsync();
    if (status !== undefined) return { kind: "cannot-wait", status };
    const unwatch = store.watch(locks.key({ share, id: first.file }), signal.raise);
    const cancelTimer = clock.after(wakeMilliseconds, signal.raise);
    const removeListener = lifetime.onCancel(signal.raise);
    const since = clock.wall();
    const wait = { ...lifetime.origin, share, file: first.file, ranges, since };
    const endWait = lockWaits.add(wait);
    try {
      // The lock record may have changed before the watch began; this attempt sees such a change.
      const second = await attempt();
      if (second.kind !== "wait") return second;
      await signal.raised;
    } finally {
      endWait();
      unwatch();
      cancelTimer();
      removeListener();
    }
    if (lifetime.isCancelled) return { kind: "cancelled" };
  }
  throw new Error(`SMB request waited for locks more than ${rerunsMax} times`);
}

function newSignal() {
  let raise = (): void => {};
  const raised = new Promise<void>((resolve) => {
    raise = resolve;
  });
  return { raise: () => raise(), raised };
}
