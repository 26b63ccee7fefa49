import type { Done, FileOutcome, FileResult } from "../../file/filesystem/file-result.ts";
import type { ByteSpan } from "../../file/locks/byte-ranges.ts";
import { runUntilReady, type Runtime } from "../../operation/work.ts";
import type { TreeRequest } from "../request.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { commandNameOf } from "../wire/protocol.ts";

/** Why a request stops waiting: it was cancelled, or it may not become pending. */
interface Stopped {
  readonly kind: "stopped";
  readonly status: NtStatus;
}

/** Runs a file operation for a request, again and again while it must wait for a byte-range lock or
 *  a break of a caching grant. Sends an interim response before the first wait. Returns the status
 *  if the operation fails, the client cancels it, or the request may not become pending. `ranges`
 *  are what it wants to lock, for the list of waiting requests. */
export async function waitForLocks<T>(
  { connection, lifetime }: TreeRequest,
  attempt: (runtime: Runtime) => Promise<FileOutcome<T>>,
  ranges?: readonly ByteSpan[],
): Promise<Done<T> | NtStatus> {
  const { runtime } = connection.server.world;
  const { client, command } = lifetime.origin;
  const waiter = { client, operation: commandNameOf(command), ranges };
  const stop = (status?: NtStatus): Stopped | undefined => {
    if (status !== undefined) return { kind: "stopped", status };
    return lifetime.isCancelled ? { kind: "stopped", status: Status.cancelled } : undefined;
  };
  const run = () => attempt(runtime);
  const outcome = await runUntilReady<FileResult<T>, Stopped>(runtime, waiter, run, {
    before: () => stop(lifetime.goAsync()),
    after: () => stop(),
    onInterrupt: (listener) => lifetime.onCancel(listener),
  });
  switch (outcome.kind) {
    case "done":
      return outcome;
    case "fault":
      return statusOf(outcome.fault);
    case "stopped":
      return outcome.status;
  }
}
