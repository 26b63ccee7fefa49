import type { FileResult } from "../../file/filesystem/file-result.ts";
import type { ByteSpan } from "../../file/locks/byte-ranges.ts";
import { runUntilReady, type WaitOutcome } from "../../operation/work.ts";
import type { SmbServerState } from "../server.ts";
import type { RequestLifetime } from "../request.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { commandNameOf } from "../wire/protocol.ts";

/** Why a request ended that had to wait. */
type Interrupted =
  | { readonly kind: "cancelled" }
  | { readonly kind: "cannot-wait"; readonly status: NtStatus };

/** The status of a request that failed or could not wait. */
export function statusOfWait(
  outcome: Exclude<FileResult<unknown>, { kind: "done" }> | Interrupted,
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

/** The lifetime of a request that may wait, and the byte ranges that it wants to lock. */
interface LockWaiter {
  readonly lifetime: RequestLifetime;
  readonly ranges?: readonly ByteSpan[];
}

/** Runs `attempt` until it need not wait. Sends an interim response before the first wait. */
export function waitForLocks<T extends object>(
  { world }: SmbServerState,
  { lifetime, ranges }: LockWaiter,
  attempt: () => Promise<T | WaitOutcome>,
): Promise<T | Interrupted> {
  const { client, command } = lifetime.origin;
  const waiter = { client, operation: commandNameOf(command), ranges };
  return runUntilReady<T, Interrupted>(world.runtime, waiter, attempt, {
    before: () => cannotWait(lifetime.goAsync()) ?? cancelled(lifetime),
    after: () => cancelled(lifetime),
    onInterrupt: (listener) => lifetime.onCancel(listener),
  });
}

function cannotWait(status: NtStatus | undefined): Interrupted | undefined {
  return status === undefined ? undefined : { kind: "cannot-wait", status };
}

function cancelled({ isCancelled }: RequestLifetime): Interrupted | undefined {
  return isCancelled ? { kind: "cancelled" } : undefined;
}
