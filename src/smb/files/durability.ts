import { cacheHandle } from "../../file/locks/lock-state.ts";
import { fileInfo } from "../../file/filesystem/info.ts";
import { foldName } from "../../file/share-tree.ts";
import { OpenAction } from "../../file/filesystem/open.ts";
import type { CommandResult, TreeRequest } from "../request.ts";
import { Status } from "../status.ts";
import {
  encodeDurable,
  leaseIn,
  type CreateContext,
  type CreateRequest,
  type DurableContext,
} from "../wire/create.ts";
import { currentGrant, grantedCaching, leaseKeyOf } from "./caching-choice.ts";
import { createResponse } from "./create-rules.ts";
import { requestOn, type Durability, type FileHandle, type ParsedPath } from "./file-handle.ts";
import type { SmbServerState } from "../server.ts";
import type { Connection } from "../connection.ts";

/** Durable handles, which stay open when their connection is lost, so that the client can reconnect
 *  to them ([MS-SMB2] 3.3.5.9.6 to 3.3.5.9.12), and replays, with which a client repeats a CREATE.
 *  `smb/operations/create.ts` grants durable handles and calls `reconnect`. */

/** How long a durable handle of version 2 stays open without a connection, if the client requests
 *  no time. */
const defaultMilliseconds = 60_000;
/** How long a durable handle of version 1 stays open; its clients cannot request a time. */
const version1Milliseconds = 120_000;
/** Limit of the time that a client requests (version 2): so long may its open reject others. */
const millisecondsMax = 300_000;

type Request = Extract<DurableContext, { kind: "request" }>;
type Reconnect = Extract<DurableContext, { kind: "reconnect" }>;

/** The durability that a new handle gets; undefined for none. `held` are its caching rights:
 *  durability needs handle caching ([MS-SMB2] 3.3.5.9.6). */
export function durabilityOf(
  context: Request | undefined,
  held: number,
  isDirectory: boolean,
): Durability | undefined {
  if (context === undefined || isDirectory || (held & cacheHandle) === 0) return undefined;
  if (context.version === 1) {
    return { version: 1, milliseconds: version1Milliseconds, createGuid: undefined };
  }
  const requested = context.milliseconds === 0 ? defaultMilliseconds : context.milliseconds;
  const milliseconds = Math.min(requested, millisecondsMax);
  return { version: 2, milliseconds, createGuid: context.createGuid };
}

export function durableContext(durable: Durability | undefined): CreateContext | undefined {
  return durable && encodeDurable(durable.version, durable.milliseconds);
}

/** A CREATE that reconnects to a durable handle ([MS-SMB2] 3.3.5.9.7 and 3.3.5.9.12). */
export async function reconnect(
  request: TreeRequest,
  create: CreateRequest,
  context: Reconnect,
  path: ParsedPath,
): Promise<CommandResult> {
  const { connection, session, tree } = request;
  const { server } = connection;
  const { handle: kept, account } = server.durableHandles.find(context.fileId.persistent) ?? {};
  if (kept === undefined || !isSameOpen(request, create, context, kept)) {
    return Status.objectNameNotFound;
  }
  if (account !== session.account) return Status.accessDenied;
  if (kept.cache?.lease !== undefined && !isSamePath(path.components, kept.path)) {
    return Status.invalidParameter;
  }
  server.durableHandles.remove(kept);
  const info = await fileInfo(server.world.runtime, requestOn(kept));
  // A break may have closed the handle while the file was read.
  if (server.handleCloser.isClosing(kept)) return Status.objectNameNotFound;
  if (info.kind === "fault") {
    await server.handleCloser.close([kept]);
    return Status.objectNameNotFound;
  }
  const id = { persistent: kept.id.persistent, volatile: server.newId() };
  const { channelSequence } = request.header;
  const counters = { channelSequence, pendingRequests: 0, pendingOlderRequests: 0 };
  const handle: FileHandle = { ...kept, id, session, connection, tree, ...counters };
  if (!session.isValid) {
    // The session has ended since the reconnect began. The handle is kept, so that the client may
    // reconnect again.
    if (!server.durableHandles.keep(kept)) server.closeInBackground([kept]);
    return Status.userSessionDeleted;
  }
  const { node, locks } = info.value;
  const { cache } = handle;
  const granted = grantedCaching(cache && currentGrant(cache.key, leaseIn(create)), locks);
  server.breakNotifier.remove(kept);
  server.replays.remove(kept);
  session.handles.set(id.volatile, handle);
  server.breakNotifier.add(handle, granted.held);
  const { level, context: lease } = granted;
  return createResponse(handle, { node, action: OpenAction.opened, level, contexts: [lease] });
}

const noGuid = "0".repeat(32);

/** Whether a reconnect names this handle: same share, CreateGuid and lease key. */
function isSameOpen(
  { connection, tree }: TreeRequest,
  create: CreateRequest,
  reconnection: Reconnect,
  { cache, durable, reference }: FileHandle,
): boolean {
  if (reference.share.id !== tree.share.id) return false;
  // A handle of version 1 has no CreateGuid; it counts as all zeros.
  const createGuid = durable?.createGuid ?? noGuid;
  if (reconnection.version === 2 && createGuid !== reconnection.createGuid) return false;
  const lease = leaseIn(create);
  if (cache?.lease === undefined) return lease === undefined;
  return lease !== undefined && cache.key === leaseKeyOf(connection, lease.key);
}

function isSamePath(left: readonly string[], right: readonly string[]): boolean {
  return left.map(foldName).join("\\") === right.map(foldName).join("\\");
}

/** Most durable handles without a connection, of all clients together. Beyond it, the handles of a
 *  lost connection are closed at once. */
const durablesMax = 4096;

/** A durable handle without a connection; `cancel` stops its time-out. */
interface DisconnectedHandle {
  readonly handle: FileHandle;
  readonly account: string;
  readonly cancel: () => void;
}

/** Durable handles whose connection was lost, until a reconnect or their time-out. */
export class DurableHandles {
  readonly #server: SmbServerState;
  readonly #disconnected = new Map<bigint, DisconnectedHandle>();

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** Keeps the handle of a lost connection for a reconnect. Returns false if the caller must close
   *  it: it is not durable, or there are too many, or it has no handle caching ([MS-SMB2] 3.3.7.1).
   *  Without handle caching no break could close it, and conflicting opens would fail until the
   *  time-out. */
  keep(handle: FileHandle): boolean {
    const { durable, session } = handle;
    if (durable === undefined || this.#disconnected.size >= durablesMax) return false;
    if (!this.#server.breakNotifier.cachesHandle(handle)) return false;
    const { persistent } = handle.id;
    const cancel = this.#server.world.clock.after(durable.milliseconds, () => {
      if (this.#disconnected.delete(persistent)) this.#server.closeInBackground([handle]);
    });
    this.#disconnected.set(persistent, { handle, account: session.account, cancel });
    return true;
  }

  find(persistent: bigint): DisconnectedHandle | undefined {
    return this.#disconnected.get(persistent);
  }

  /** Called when the handle is reconnected or closed: stops its time-out. */
  remove({ id }: FileHandle): void {
    this.#disconnected.get(id.persistent)?.cancel();
    this.#disconnected.delete(id.persistent);
  }

  /** Closes all durable handles without a connection, when the server stops. */
  async closeAll(): Promise<void> {
    const disconnected = Array.from(this.#disconnected.values());
    this.#disconnected.clear();
    for (const { cancel } of disconnected) cancel();
    await this.#server.handleCloser.close(disconnected.map(({ handle }) => handle));
  }
}

/** An open whose client may not have received the response to its CREATE (`Replays`). */
export interface ReplayableOpen {
  readonly handle: FileHandle;
  /** What the CREATE did to the file (CreateAction), for the response to its replay. */
  readonly action: number;
}

/** Opens by client and CreateGuid, the id that the client gives a CREATE. A client that did not
 *  receive the response sends the request again over another channel. It must get the same handle,
 *  not a second one that it would never close ([MS-SMB2] 3.3.5.9.10). */
export class Replays {
  readonly #opens = new Map<string, ReplayableOpen>();
  readonly #names = new Map<bigint, string>();
  readonly #pending = new Set<string>();

  /** The open of an earlier CREATE with this key; `pending` if that CREATE is still running. */
  find(name: string): ReplayableOpen | "pending" | undefined {
    return this.#pending.has(name) ? "pending" : this.#opens.get(name);
  }

  begin(name: string): void {
    this.#pending.add(name);
  }

  finish(name: string): void {
    this.#pending.delete(name);
  }

  add(name: string, open: ReplayableOpen): void {
    this.#opens.set(name, open);
    this.#names.set(open.handle.id.persistent, name);
  }

  /** Called when a handle is closed or used by a request: its client has received the response, so
   *  another CREATE with its GUID is a new open (Open.IsReplayEligible becomes FALSE). */
  remove({ id }: FileHandle): void {
    if (this.#names.size === 0) return;
    const name = this.#names.get(id.persistent);
    if (name === undefined) return;
    this.#names.delete(id.persistent);
    this.#opens.delete(name);
  }
}

/** Key of an open in `Replays`. Create GUIDs are unique only per client. */
export function replayKey({ clientId }: Connection, createGuid: string): string {
  return `${clientId}:${createGuid}`;
}
