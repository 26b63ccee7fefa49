import { closeFile } from "../../file/filesystem/close.ts";
import {
  openFile,
  OpenAction,
  type OpenResult,
  type Disposition,
  type FileOpenRequest,
} from "../../file/filesystem/open.ts";
import type { FileReference } from "../../file/filesystem/file-reference.ts";
import { type CommandResult, type TreeRequest, waitForLocks } from "../request.ts";
import {
  has,
  resolveAccess,
  requestOn,
  type FileHandle,
  parsePath,
  type ParsedPath,
} from "../files/file-handle.ts";
import {
  cacheBitsOf,
  chooseCaching,
  currentGrant,
  grantedCaching,
  leasedFile,
  leaseKeyOf,
  levelOf,
  requestedLease,
  type CachingChoice,
} from "../files/caching-choice.ts";
import { modification, nameChange } from "../files/change-dispatcher.ts";
import { ChangeAction, ChangeFilter } from "../files/directory-watch.ts";
import {
  durabilityOf,
  durableContext,
  reconnect,
  replayKey,
  type ReplayableOpen,
} from "../files/durability.ts";
import { epochOf } from "../files/shares.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import { handlesMax } from "../limits.ts";
import {
  contextData,
  ContextName,
  decodeCreate,
  decodeDurable,
  type CreateRequest,
  type DurableContext,
  type LeaseContext,
} from "../wire/create.ts";
import type { SmbServerState } from "../server.ts";
import { checkCreate, CreateOption, createResponse, factContexts } from "../files/create-rules.ts";
import { descriptorText } from "../files/security.ts";
import { openPipe } from "./pipe.ts";
import { fileInfo } from "../../file/filesystem/info.ts";
import { dataAccess, Right } from "../../file/locks/access.ts";
import { cacheHandle, type LockState } from "../../file/locks/lock-state.ts";
import { HeaderFlag, OplockLevel } from "../wire/protocol.ts";

/** CREATE ([MS-SMB2] 3.3.5.9): opens or creates a file through `file/filesystem/open.ts`, and keeps
 *  its handle in the session. Durable handles and replays are the larger part. */

/** What to do with a name that exists or does not exist, by the number that clients send
 *  (CreateDisposition, [MS-SMB2] 2.2.13). */
const dispositionsByNumber: readonly Disposition[] = [
  "supersede",
  "open",
  "create",
  "openIf",
  "overwrite",
  "overwriteIf",
];

type DurableRequest = Extract<DurableContext, { kind: "request" }>;
type GuidRequest = Extract<DurableRequest, { version: 2 }>;

/** CREATE: opens or creates a file, reconnects a durable handle, or opens a named pipe. */
export async function create(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeCreate(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  if (request.session.handles.size >= handlesMax) return Status.insufficientResources;
  if (request.tree.kind === "pipe") return openPipe(request, decoded);
  const path = parsePath(decoded.name);
  if (typeof path === "number") return path;
  const durable = decodeDurable(decoded.contexts);
  if (durable === "malformed") return Status.invalidParameter;
  if (durable?.kind === "reconnect") return reconnect(request, decoded, durable, path);
  const wrong = checkCreate(decoded);
  if (wrong !== undefined) return wrong;
  if (durable?.version === 2) return createWithGuid(request, decoded, path, durable);
  return createFile(request, decoded, path, durable);
}

/** A CREATE with a CreateGuid, the id by which the server recognises that a client repeats it. */
async function createWithGuid(
  request: TreeRequest,
  decoded: CreateRequest,
  path: ParsedPath,
  durable: GuidRequest,
): Promise<CommandResult> {
  const { connection, session, lifetime } = request;
  const { replays } = connection.server;
  const name = replayKey(connection, durable.createGuid);
  const found = replays.find(name);
  if (found === "pending") return Status.fileNotAvailable;
  if (found !== undefined) return replayCreate(request, decoded, found);
  replays.begin(name);
  // If this connection is lost, the client replays the request over another channel.
  session.keepPending(lifetime);
  try {
    return await createFile(request, decoded, path, durable);
  } finally {
    session.dropPending(lifetime);
    replays.finish(name);
  }
}

async function createFile(
  request: TreeRequest,
  decoded: CreateRequest,
  path: ParsedPath,
  durable: DurableRequest | undefined,
): Promise<CommandResult> {
  const { connection, session, tree, lifetime } = request;
  const { server } = connection;
  const id = { persistent: server.newId(), volatile: server.newId() };
  const cache = chooseCaching(request, decoded, id.persistent);
  if (typeof cache === "number") return cache;
  const epoch = await epochOf(server.world.runtime, tree, decoded, path);
  if (typeof epoch === "object") return epoch.status;
  const openRequest = openRequestOf(request, decoded, path, { id: id.persistent, cache, epoch });
  if (typeof openRequest === "number") return openRequest;
  const outcome = await waitForLocks(request, (runtime) => openFile(runtime, openRequest));
  if (typeof outcome === "number") return outcome;
  const { value: opened } = outcome;
  if (lifetime.isCancelled || !session.isValid) {
    // The client disconnected or cancelled during the wait, so it would never close this handle.
    const reference = { share: tree.share, file: opened.node.id };
    await closeFile(server.world.runtime, reference, [id.persistent]);
    return Status.cancelled;
  }
  return registerOpen(request, decoded, { id, cache, opened, epoch, path, durable });
}

interface OpenParameters {
  readonly id: bigint;
  readonly cache: CachingChoice | undefined;
  readonly epoch: number | undefined;
}

function openRequestOf(
  request: TreeRequest,
  decoded: CreateRequest,
  path: ParsedPath,
  { id, cache, epoch }: OpenParameters,
): FileOpenRequest | NtStatus {
  const { connection, session, tree } = request;
  const rights = resolveAccess(decoded.access);
  if (typeof rights === "number") return rights;
  const deletes = (decoded.options & CreateOption.deleteOnClose) !== 0;
  if (deletes && !has(rights.access, Right.delete)) return Status.invalidParameter;
  const sddl = descriptorText(decoded);
  if (typeof sddl === "number") return sddl;
  const isDirectory = (decoded.options & CreateOption.directory) !== 0 || path.mustBeDirectory;
  const isFile = (decoded.options & CreateOption.notDirectory) !== 0;
  return {
    share: tree.share,
    path: path.components,
    disposition: dispositionsByNumber[decoded.disposition] ?? "open",
    wants: isDirectory ? "directory" : isFile ? "file" : undefined,
    wantsMaximum: rights.wantsMaximum,
    attributes: decoded.attributes,
    sddl,
    open: {
      id,
      owner: connection.server.owner,
      access: rights.access,
      share: decoded.share,
      deleteOnClose: deletes,
      cacheKey: cache?.request.key,
      session: session.id,
      client: connection.peer,
    },
    cache: cache?.request,
    cacheFile: leasedFile(request, decoded),
    epoch,
  };
}

/** A successful CREATE, whose handle is not yet in the session. */
interface CreatedOpen extends Omit<OpenParameters, "id"> {
  readonly id: FileHandle["id"];
  readonly opened: OpenResult;
  readonly path: ParsedPath;
  readonly durable: DurableRequest | undefined;
}

/** Adds the handle to the session, and builds the response. */
function registerOpen(
  request: TreeRequest,
  decoded: CreateRequest,
  success: CreatedOpen,
): CommandResult {
  const { connection, session, tree } = request;
  const { id, opened, cache, epoch, path } = success;
  const { node } = opened;
  const snapshot = epoch === undefined ? undefined : { epoch, path: path.components };
  const reference: FileReference = { share: tree.share, file: node.id, snapshot };
  const version = cache && connection.server.breakNotifier.leaseVersion(cache.request.key);
  const granted = grantedCaching(cache, opened.locks, version);
  const handle: FileHandle = {
    kind: "file",
    id,
    tree,
    session,
    connection,
    reference,
    path: path.components,
    access: opened.open.access,
    isDirectory: node.kind === "directory",
    options: decoded.options,
    cache: granted.grant,
    durable: durabilityOf(success.durable, granted.held, node.kind === "directory"),
    listing: undefined,
    watch: undefined,
    position: 0n,
    channelSequence: request.header.channelSequence,
    pendingRequests: 0,
    pendingOlderRequests: 0,
    lockNumbers: new Map(),
    reservedBytes: reservedBytes(decoded),
    keepsLastWrite: false,
    keepsChangeTime: false,
  };
  session.handles.set(id.volatile, handle);
  connection.server.breakNotifier.add(handle, granted.held);
  publishOpen(connection.server, handle, opened);
  if (success.durable?.version === 2 && isReplayEligible(handle)) {
    const name = replayKey(connection, success.durable.createGuid);
    connection.server.replays.add(name, { handle, action: opened.action });
  }
  const { level, context: lease } = granted;
  const contexts = [
    lease,
    durableContext(handle.durable),
    ...factContexts(decoded, reference, node),
  ];
  return createResponse(handle, { node, action: opened.action, level, contexts });
}

/** Reports the change of an open that has created or overwritten a file to directory watches. */
function publishOpen(
  { changeDispatcher: changes }: SmbServerState,
  { reference }: FileHandle,
  opened: OpenResult,
): void {
  const { node, action } = opened;
  if (action === OpenAction.opened) return;
  const happening =
    action === OpenAction.created
      ? nameChange(ChangeAction.added, node)
      : modification(node, ChangeFilter.size | ChangeFilter.lastWrite | ChangeFilter.attributes);
  changes.publish(reference.share.id, [happening]);
}

/** The allocation size that a CREATE requests; 0 if it requests none. */
function reservedBytes(decoded: CreateRequest): number {
  const data = contextData(decoded, ContextName.allocation);
  return data?.length === 8 ? Number(data.readBigUInt64LE()) : 0;
}

/** Whether a repeated CREATE gets this handle: not for directories and opens without data access
 *  ([MS-SMB2] 3.3.5.9.10). */
function isReplayEligible({ isDirectory, access }: FileHandle): boolean {
  return !isDirectory && dataAccess(access) !== 0;
}

/** Responds to a replayed CREATE with the handle of the first one. */
async function replayCreate(
  request: TreeRequest,
  decoded: CreateRequest,
  { handle, action }: ReplayableOpen,
): Promise<CommandResult> {
  const { connection, session } = request;
  const lease = requestedLease(decoded);
  const refused = checkReplay(request, handle, lease);
  if (refused !== undefined) return refused;
  const info = await fileInfo(connection.server.world.runtime, requestOn(handle));
  if (info.kind === "fault") return statusOf(info.fault);
  if (session.handles.get(handle.id.volatile) !== handle) return Status.fileClosed;
  handle.connection = connection;
  const { node, locks } = info.value;
  const { level, context, keepsHandle } = replayedCache(decoded, handle, locks, lease);
  const contexts = [
    context,
    durableContext(keepsHandle ? handle.durable : undefined),
    ...factContexts(decoded, handle.reference, node),
  ];
  return createResponse(handle, { node, action, level, contexts });
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

/** The caching in the response to a replay. An SMB lease is reported in its current state. An
 *  oplock is reported with the requested level, but at most the one that is still granted: with a
 *  level that was broken since, the client would cache data that other clients change. */
function replayedCache(
  decoded: CreateRequest,
  { cache }: FileHandle,
  locks: LockState,
  lease: LeaseContext | undefined,
) {
  if (cache !== undefined && lease !== undefined) {
    const granted = grantedCaching(currentGrant(cache.key, lease), locks, cache.lease?.version);
    return { ...granted, keepsHandle: (granted.held & cacheHandle) !== 0 };
  }
  const present = locks.caches.find(({ key }) => key === cache?.key);
  const kept = present?.breaking?.to ?? present?.held ?? 0;
  const level = levelOf(kept & cacheBitsOf(decoded.oplock));
  return { level, context: undefined, keepsHandle: level === OplockLevel.batch };
}
