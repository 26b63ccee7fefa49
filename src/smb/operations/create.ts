import { closeFile } from "../../file/filesystem/close.ts";
import { openFile, type OpenResult } from "../../file/filesystem/open.ts";
import {
  OpenAction,
  type Disposition,
  type FileOpenRequest,
} from "../../file/filesystem/file-open-request.ts";
import type { FileReference } from "../../file/filesystem/file-reference.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { has, resolveAccess, Right } from "../files/access.ts";
import {
  chooseCaching,
  grantedCaching,
  leasedFile,
  type CachingChoice,
} from "../files/caching-choice.ts";
import { nameChange, modification } from "../files/change-dispatcher.ts";
import { ChangeAction, ChangeFilter } from "../files/directory-watch.ts";
import { durabilityOf, durableContext, reconnect } from "../files/durability.ts";
import { factsOf } from "../files/facts.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { parsePath, type ParsedPath } from "../files/path.ts";
import { replayKey } from "../files/replays.ts";
import { epochOf } from "../files/snapshots.ts";
import { statusOf } from "../files/status-of.ts";
import { waitForLocks } from "../files/wait-for-locks.ts";
import type { TreeRequest } from "../request.ts";
import { handlesMax } from "../limits.ts";
import { Status, type NtStatus } from "../status.ts";
import { decodeCreate, encodeCreateResponse, type CreateRequest } from "../wire/create.ts";
import { ContextName } from "../wire/create-contexts.ts";
import { decodeDurable, type DurableContext } from "../wire/durable-contexts.ts";
import type { SmbServerState } from "../server.ts";
import { CreateOption, checkCreate } from "../files/create-rules.ts";
import { descriptorText } from "../files/security.ts";
import { factContexts } from "../files/create-facts.ts";
import { isReplayEligible, replayCreate } from "./create-replay.ts";
import { openPipe } from "./pipe.ts";

/** By the number of CreateDisposition. */
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
export async function create(request: TreeRequest): Promise<SmbResponse> {
  const asked = decodeCreate(request.message);
  if (asked === undefined) return errorResponse(Status.invalidParameter);
  if (request.session.handles.size >= handlesMax)
    return errorResponse(Status.insufficientResources);
  if (request.tree.kind === "pipe") return openPipe(request, asked);
  const path = parsePath(asked.name);
  if (typeof path === "number") return errorResponse(path);
  const durable = decodeDurable(asked.contexts);
  if (durable === "malformed") return errorResponse(Status.invalidParameter);
  if (durable?.kind === "reconnect") return reconnect(request, asked, durable, path);
  const wrong = checkCreate(asked);
  if (wrong !== undefined) return errorResponse(wrong);
  if (durable?.version === 2) return createWithGuid(request, asked, path, durable);
  return createFile(request, asked, path, durable);
}

/** A CREATE with a create GUID is executed once, even if the client sends it several times. */
async function createWithGuid(
  request: TreeRequest,
  asked: CreateRequest,
  path: ParsedPath,
  durable: GuidRequest,
): Promise<SmbResponse> {
  const { connection, session, lifetime } = request;
  const { replays } = connection.server;
  const name = replayKey(connection, durable.createGuid);
  const found = replays.find(name);
  if (found === "pending") return errorResponse(Status.fileNotAvailable);
  if (found !== undefined) return replayCreate(request, asked, found);
  replays.begin(name);
  // If this connection is lost, the client replays the request over another channel.
  session.keepPending(lifetime);
  try {
    return await createFile(request, asked, path, durable);
  } finally {
    session.dropPending(lifetime);
    replays.finish(name);
  }
}

async function createFile(
  request: TreeRequest,
  asked: CreateRequest,
  path: ParsedPath,
  durable: DurableRequest | undefined,
): Promise<SmbResponse> {
  const { connection, tree } = request;
  const { server } = connection;
  const id = { persistent: server.newId(), volatile: server.newId() };
  const cache = chooseCaching(request, asked, id.persistent);
  if (typeof cache === "number") return errorResponse(cache);
  const epoch = await epochOf(server.world.runtime, tree, asked, path);
  if (typeof epoch === "object") return errorResponse(epoch.status);
  const openRequest = openRequestOf(request, asked, path, { id: id.persistent, cache, epoch });
  if (typeof openRequest === "number") return errorResponse(openRequest);
  const outcome = await waitForLocks(server, tree.shareId, request, () =>
    openFile(server.world.runtime, openRequest),
  );
  switch (outcome.kind) {
    case "cancelled":
      return errorResponse(Status.cancelled);
    case "cannot-wait":
      return errorResponse(outcome.status);
    case "fault":
      return errorResponse(statusOf(outcome.fault));
    case "done":
      if (request.lifetime.isCancelled || !request.session.isValid) {
        // The client disconnected or cancelled during the wait, so it would never close this
        // handle.
        const reference = { share: tree.address, file: outcome.value.node.id };
        await closeFile(server.world.runtime, reference, [id.persistent]);
        return errorResponse(Status.cancelled);
      }
      return registerOpen(request, asked, {
        id,
        cache,
        opened: outcome.value,
        epoch,
        path,
        durable,
      });
  }
}

interface OpenParameters {
  readonly id: bigint;
  readonly cache: CachingChoice | undefined;
  readonly epoch: number | undefined;
}

function openRequestOf(
  request: TreeRequest,
  asked: CreateRequest,
  path: ParsedPath,
  { id, cache, epoch }: OpenParameters,
): FileOpenRequest | NtStatus {
  const { connection, session, tree } = request;
  const rights = resolveAccess(asked.access);
  if (typeof rights === "number") return rights;
  const deletes = (asked.options & CreateOption.deleteOnClose) !== 0;
  if (deletes && !has(rights.access, Right.delete)) return Status.invalidParameter;
  const sddl = descriptorText(asked.contexts);
  if (typeof sddl === "number") return sddl;
  const isDirectory = (asked.options & CreateOption.directory) !== 0 || path.mustBeDirectory;
  const isFile = (asked.options & CreateOption.notDirectory) !== 0;
  return {
    share: tree.address,
    path: path.components,
    disposition: dispositionsByNumber[asked.disposition] ?? "open",
    wants: isDirectory ? "directory" : isFile ? "file" : undefined,
    wantsMaximum: rights.wantsMaximum,
    attributes: asked.attributes,
    sddl,
    open: {
      id,
      owner: connection.server.owner,
      access: rights.access,
      share: asked.share,
      deleteOnClose: deletes,
      cacheKey: cache?.request.key,
      session: session.id,
      client: connection.peer,
    },
    cache: cache?.request,
    cacheFile: leasedFile(request, asked),
    epoch,
  };
}

/** A successful CREATE. */
interface CreatedOpen extends Omit<OpenParameters, "id"> {
  readonly id: FileHandle["id"];
  readonly opened: OpenResult;
  readonly path: ParsedPath;
  readonly durable: DurableRequest | undefined;
}

/** Adds the handle to its session, and builds the response. */
function registerOpen(
  request: TreeRequest,
  asked: CreateRequest,
  success: CreatedOpen,
): SmbResponse {
  const { connection, session, tree } = request;
  const { id, opened, cache, epoch, path } = success;
  const { node } = opened;
  const snapshot = epoch === undefined ? undefined : { epoch, path: path.components };
  const reference: FileReference = { share: tree.address, file: node.id, snapshot };
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
    options: asked.options,
    cache: granted.grant,
    durable: durabilityOf(success.durable, granted.held, node.kind === "directory"),
    listing: undefined,
    watch: undefined,
    position: 0n,
    channelSequence: request.header.channelSequence,
    pendingRequests: 0,
    pendingOlderRequests: 0,
    lockNumbers: new Map(),
    reservedBytes: reservedBytes(asked),
    keepsLastWrite: false,
    keepsChangeTime: false,
  };
  session.handles.set(id.volatile, handle);
  connection.server.breakNotifier.add(handle, granted.held);
  publishOpen(connection.server, handle, opened);
  const contexts = [...durableContext(handle.durable), ...factContexts(asked, reference, node)];
  const body = encodeCreateResponse({
    oplock: granted.level,
    action: opened.action,
    facts: factsOf(node, handle.reservedBytes),
    fileId: id,
    contexts: granted.context === undefined ? contexts : [granted.context, ...contexts],
  });
  if (success.durable?.version === 2 && isReplayEligible(handle)) {
    const name = replayKey(connection, success.durable.createGuid);
    connection.server.replays.add(name, { handle, action: opened.action });
  }
  return { ...newResponse(body), fileId: id };
}

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

function reservedBytes({ contexts }: CreateRequest): number {
  const asked = contexts.find(({ name }) => name === ContextName.allocation)?.data;
  return asked?.length === 8 ? Number(asked.readBigUInt64LE()) : 0;
}
