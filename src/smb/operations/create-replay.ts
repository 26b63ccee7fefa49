import { fileInfo } from "../../file/filesystem/info.ts";
import { dataAccess } from "../../file/locks/access.ts";
import { cacheHandle, type LockState } from "../../file/locks/lock-state.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { grantedCaching, leaseKeyOf, levelOf, cacheBitsOf } from "../files/caching-choice.ts";
import { factContexts } from "../files/create-facts.ts";
import { durableContext } from "../files/durability.ts";
import { factsOf } from "../files/facts.ts";
import type { FileHandle } from "../files/file-handle.ts";
import type { ReplayableOpen } from "../files/replays.ts";
import { statusOf } from "../files/status-of.ts";
import type { TreeRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import { encodeCreateResponse, type CreateRequest } from "../wire/create.ts";
import { ContextName, decodeLease, type LeaseContext } from "../wire/create-contexts.ts";
import { HeaderFlag, OplockLevel } from "../wire/protocol.ts";

/** Whether a repeated CREATE gets this handle: not for directories and opens without data access
 *  ([MS-SMB2] 3.3.5.9.10). */
export function isReplayEligible({ isDirectory, access }: FileHandle): boolean {
  return !isDirectory && dataAccess(access) !== 0;
}

/** Responds to a replayed CREATE with the handle of the first one. */
export async function replayCreate(
  request: TreeRequest,
  asked: CreateRequest,
  { handle, action }: ReplayableOpen,
): Promise<SmbResponse> {
  const { connection, session } = request;
  const lease = leaseOf(asked);
  const refused = checkReplay(request, handle, lease);
  if (refused !== undefined) return errorResponse(refused);
  const { reference, id } = handle;
  const info = await fileInfo(connection.server.world.runtime, reference, id.persistent);
  if (info.kind === "fault") return errorResponse(statusOf(info.fault));
  if (session.handles.get(id.volatile) !== handle) return errorResponse(Status.fileClosed);
  handle.connection = connection;
  const { node, locks } = info.value;
  const cache = replayedCache(asked, handle, locks, lease);
  const durable = cache.keepsHandle ? handle.durable : undefined;
  const contexts = [...durableContext(durable), ...factContexts(asked, reference, node)];
  const body = encodeCreateResponse({
    oplock: cache.level,
    action,
    facts: factsOf(node, handle.reservedBytes),
    fileId: id,
    contexts: cache.context === undefined ? contexts : [cache.context, ...contexts],
  });
  return { ...newResponse(body), fileId: id };
}

/** The status of a replay that is not allowed, in the order of [MS-SMB2] 3.3.5.9. */
function checkReplay(
  { header, session, connection }: TreeRequest,
  handle: FileHandle,
  lease: LeaseContext | undefined,
): NtStatus | undefined {
  if ((header.flags & HeaderFlag.replay) === 0) return Status.duplicateObjectId;
  if (handle.session.account !== session.account) return Status.accessDenied;
  const heldLease = handle.cache?.lease === undefined ? undefined : handle.cache.key;
  const askedLease = lease && leaseKeyOf(connection, lease.key);
  if (heldLease !== askedLease) return Status.accessDenied;
  return handle.session === session ? undefined : Status.duplicateObjectId;
}

function leaseOf({ oplock, contexts }: CreateRequest): LeaseContext | undefined {
  if (oplock !== OplockLevel.lease) return undefined;
  const context = contexts.find(({ name }) => name === ContextName.lease);
  return context && decodeLease(context.data);
}

/** The caching in the response to a replay. An SMB lease is reported in its current state. Of an
 *  oplock the level requested now is reported, but at most the one that is still granted: a level
 *  that was broken meanwhile would let the client cache data that other clients change. */
function replayedCache(
  asked: CreateRequest,
  { cache }: FileHandle,
  locks: LockState,
  lease: LeaseContext | undefined,
) {
  if (cache !== undefined && lease !== undefined) {
    const choice = { request: { key: cache.key, wanted: 0 }, lease };
    const granted = grantedCaching(choice, locks, cache.lease?.version);
    return { ...granted, keepsHandle: (granted.held & cacheHandle) !== 0 };
  }
  const present = locks.caches.find(({ key }) => key === cache?.key);
  const kept = present?.breaking?.to ?? present?.held ?? 0;
  const level = levelOf(kept & cacheBitsOf(asked.oplock));
  return { level, context: undefined, keepsHandle: level === OplockLevel.batch };
}
