import { acknowledge, type Acknowledgement } from "../../file/filesystem/lock.ts";
import { cacheRead } from "../../file/locks/lock-state.ts";
import { newResponse, type CommandResult } from "../response.ts";
import { leaseKeyOf } from "../files/caching-choice.ts";
import type { FileHandle } from "../files/file-handle.ts";
import type { SessionRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import {
  decodeBreak,
  encodeLeaseBreakResponse,
  encodeOplockBreak,
  type BreakAcknowledgement,
} from "../wire/io.ts";
import { OplockLevel } from "../wire/protocol.ts";

/** OPLOCK_BREAK: a client acknowledges the break of an oplock or SMB lease. */
export async function oplockBreak(request: SessionRequest): Promise<CommandResult> {
  const decoded = decodeBreak(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  return decoded.kind === "lease"
    ? leaseAcknowledged(request, decoded)
    : oplockAcknowledged(request, decoded);
}

async function oplockAcknowledged(
  request: SessionRequest,
  { fileId, level }: Extract<BreakAcknowledgement, { kind: "oplock" }>,
): Promise<CommandResult> {
  const handle = request.session.handles.get(fileId.volatile);
  if (handle?.kind !== "file" || handle.id.persistent !== fileId.persistent) {
    return Status.fileClosed;
  }
  if (handle.cache === undefined || handle.cache.lease !== undefined) {
    return Status.invalidParameter;
  }
  if (level !== OplockLevel.none && level !== OplockLevel.shared) return Status.invalidParameter;
  const kept = level === OplockLevel.shared ? cacheRead : 0;
  const failure = await storeAcknowledgement(request, handle, kept, oplockFailures);
  return failure ?? newResponse(encodeOplockBreak(level, fileId));
}

async function leaseAcknowledged(
  request: SessionRequest,
  { key, state }: Extract<BreakAcknowledgement, { kind: "lease" }>,
): Promise<CommandResult> {
  const { connection } = request;
  const [handle] = connection.server.breakNotifier.handlesOf(leaseKeyOf(connection, key));
  if (handle === undefined) return Status.objectNameNotFound;
  const failure = await storeAcknowledgement(request, handle, state, leaseFailures);
  return failure ?? newResponse(encodeLeaseBreakResponse(key, state));
}

type Failures = Readonly<Record<Exclude<Acknowledgement, "done">, NtStatus>>;

const oplockFailures: Failures = {
  "no-such-cache": Status.invalidOplockProtocol,
  "not-breaking": Status.invalidOplockProtocol,
  "too-much": Status.invalidOplockProtocol,
};

const leaseFailures: Failures = {
  "no-such-cache": Status.objectNameNotFound,
  "not-breaking": Status.unsuccessful,
  "too-much": Status.requestNotAccepted,
};

/** Stores that the client keeps only the caching rights `kept`. Returns the status of an
 *  acknowledgement that is not valid. */
async function storeAcknowledgement(
  { connection: { server } }: SessionRequest,
  handle: FileHandle,
  kept: number,
  failures: Failures,
): Promise<NtStatus | undefined> {
  const key = handle.cache?.key ?? "";
  server.replays.remove(handle);
  const notified = server.breakNotifier.beginAcknowledgement(handle, kept);
  const acknowledgement = { reference: handle.reference, key, kept };
  const outcome = await acknowledge(server.world.runtime, acknowledgement);
  server.breakNotifier.finishAcknowledgement(handle, notified, outcome === "done");
  return outcome === "done" ? undefined : failures[outcome];
}
