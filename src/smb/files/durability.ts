import { cacheHandle } from "../../file/locks/lock-state.ts";
import { fileInfo } from "../../file/filesystem/info.ts";
import { foldName } from "../../file/shared/fold.ts";
import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import type { TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import { encodeCreateResponse, type CreateRequest } from "../wire/create.ts";
import { encodeDurable, type DurableContext } from "../wire/durable-contexts.ts";
import { ContextName, decodeLease, type CreateContext } from "../wire/create-contexts.ts";
import { grantedCache, leaseKeyOf } from "./cache-choice.ts";
import { factsOf } from "./facts.ts";
import type { Durability, FileHandle } from "./file-handle.ts";
import type { ParsedPath } from "./path.ts";

const defaultMilliseconds = 60_000;
const oldMilliseconds = 120_000;
const millisecondsMax = 300_000;
const openedAction = 1;

type Request = Extract<DurableContext, { kind: "request" }>;
type Reconnect = Extract<DurableContext, { kind: "reconnect" }>;

/** Only a handle whose client may keep it after closing is worth keeping for it. */
export function durabilityOf(
  wish: Request | undefined,
  held: number,
  isDirectory: boolean,
): Durability | undefined {
  if (wish === undefined || isDirectory || (held & cacheHandle) === 0) return undefined;
  if (wish.version === 1) {
    return { version: 1, milliseconds: oldMilliseconds, createGuid: undefined };
  }
  const asked = wish.milliseconds === 0 ? defaultMilliseconds : wish.milliseconds;
  const milliseconds = Math.min(asked, millisecondsMax);
  return { version: 2, milliseconds, createGuid: wish.createGuid };
}

export function durableContext(durable: Durability | undefined): readonly CreateContext[] {
  return durable === undefined ? [] : [encodeDurable(durable.version, durable.milliseconds)];
}

/** A client takes up a handle again that it had when it lost its connection. */
export async function reconnect(
  request: TreeRequest,
  asked: CreateRequest,
  wish: Reconnect,
  path: ParsedPath,
): Promise<SmbResponse> {
  const { connection, session, tree } = request;
  const { server } = connection;
  const kept = server.durableHandles.find(wish.fileId.persistent);
  if (kept === undefined || !isSame(request, asked, wish, kept)) {
    return errorResponse(Status.objectNameNotFound);
  }
  if (server.durableHandles.accountOf(wish.fileId.persistent) !== session.account) {
    return errorResponse(Status.accessDenied);
  }
  if (kept.cache?.lease !== undefined && !isSamePath(path.components, kept.path)) {
    return errorResponse(Status.invalidParameter);
  }
  server.durableHandles.remove(kept);
  const { runtime } = server.world;
  const info = await fileInfo(runtime, kept.place, kept.id.persistent);
  // What it cached may have been taken from it meanwhile, and the handle been given up for that.
  if (server.handleCloser.isClosing(kept)) return errorResponse(Status.objectNameNotFound);
  if (info.kind === "refused") {
    await server.handleCloser.close([kept]);
    return errorResponse(Status.objectNameNotFound);
  }
  const id = { persistent: kept.id.persistent, volatile: server.newId() };
  const { channelSequence } = request.header;
  const fresh = { channelSequence, pendingRequests: 0, pendingOlderRequests: 0 };
  const handle: FileHandle = { ...kept, id, session, connection, tree, ...fresh };
  if (!session.isValid) {
    // The client is gone again already: it may still come back for it.
    if (!server.durableHandles.keep(kept)) server.closeInBackground([kept]);
    return errorResponse(Status.userSessionDeleted);
  }
  const choice = choiceOf(handle, asked);
  const granted = grantedCache(choice, info.value.locks);
  server.breakNotifier.remove(kept);
  server.replays.remove(kept);
  session.handles.set(id.volatile, handle);
  server.breakNotifier.add(handle, granted.held);
  const body = encodeCreateResponse({
    oplock: granted.level,
    action: openedAction,
    facts: factsOf(info.value.node, handle.reservedBytes),
    fileId: id,
    contexts: granted.context === undefined ? [] : [granted.context],
  });
  return { ...newResponse(body), fileId: id };
}

function choiceOf({ cache }: FileHandle, asked: CreateRequest) {
  if (cache === undefined) return undefined;
  const context = asked.contexts.find(({ name }) => name === ContextName.lease);
  const lease = context === undefined ? undefined : decodeLease(context.data);
  return { request: { key: cache.key, wanted: 0 }, lease };
}

const noGuid = "0".repeat(32);

function isSame(
  { connection, tree }: TreeRequest,
  asked: CreateRequest,
  wish: Reconnect,
  { cache, durable, place }: FileHandle,
): boolean {
  if (place.share.id !== tree.shareId) return false;
  // A handle of the first version was made without a GUID, which is the same as one of zeros.
  const madeWith = durable?.createGuid ?? noGuid;
  if (wish.version === 2 && madeWith !== wish.createGuid) return false;
  const context = asked.contexts.find(({ name }) => name === ContextName.lease);
  const lease = context === undefined ? undefined : decodeLease(context.data);
  if (cache?.lease === undefined) return lease === undefined;
  return lease !== undefined && cache.key === leaseKeyOf(connection, lease.key);
}

function isSamePath(left: readonly string[], right: readonly string[]): boolean {
  return left.map(foldName).join("\\") === right.map(foldName).join("\\");
}
