import { transactBytesMax } from "./limits.ts";
import type { RelatedContext } from "./compound-request.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { Connection } from "./connection.ts";
import type { Session, TreeConnect } from "./session.ts";
import { type NtStatus, Status, statusOf } from "./status.ts";
import { type Header, headerBytes } from "./wire/header.ts";
import { Dialect, commandNameOf } from "./wire/protocol.ts";
import type { Signer } from "./crypto/session-keys.ts";
import { Writer } from "./wire/buffers.ts";
import type { Done, FileOutcome, FileResult } from "../file/filesystem/file-result.ts";
import type { ByteSpan } from "../file/locks/byte-ranges.ts";
import { runUntilReady, type Runtime } from "../operation/work.ts";

/** Requests and their responses, as the handlers in `smb/operations` get and return them, and how a
 *  handler waits for locks. */

/** The response to one request. `CompoundRequest` writes its header and sends it. */
export interface SmbResponse {
  readonly status: NtStatus;
  /** The message. The first 64 bytes are reserved for the header. */
  readonly message: Buffer;
  /** The FileId that related requests of the compound inherit. */
  readonly fileId?: FileId;
  /** The ids of a new tree connect or session, set by TREE_CONNECT and SESSION_SETUP. If undefined,
   *  the response has those of the request. */
  readonly treeId?: number;
  readonly sessionId?: bigint;
  /** Overrides the signer of the channel, if the session has ended or belongs to another
   *  connection. */
  readonly signer?: Signer | undefined;
  /** Receives the bytes as sent, for the preauthentication integrity hash. */
  readonly whenSigned?: (message: Buffer) => void;
  /** The final SESSION_SETUP response is signed even if the session does not require it. */
  readonly mustSign?: boolean;
  /** Set if nothing is sent and the connection is closed. */
  readonly closesConnection?: true;
}

/** What the handler of a command returns: a response, or the status of an error response. */
export type CommandResult = SmbResponse | NtStatus;

/** Id of a handle: the persistent part survives a reconnect, the volatile part does not. */
export interface FileId {
  readonly persistent: bigint;
  readonly volatile: bigint;
}

const errorStructureSize = 9;

/** A response with this body, whose header is still to be written. */
export function newResponse(body: Buffer, status: NtStatus = Status.success): SmbResponse {
  const message = Buffer.allocUnsafe(headerBytes + body.length);
  body.copy(message, headerBytes);
  return { status, message };
}

/** An ERROR response, the form of interim responses (STATUS_PENDING), too ([MS-SMB2] 2.2.2). */
export function errorResponse(status: NtStatus, data?: Buffer): SmbResponse {
  const body = new Writer(16).u16(errorStructureSize).u16(0);
  if (data === undefined) body.u32(0).u8(0);
  else body.u32(data.length).bytes(data);
  return newResponse(body.finish(), status);
}

/** A response whose body has no fields, such as those of ECHO and LOGOFF. */
export function emptyResponse(): SmbResponse {
  return newResponse(new Writer(4).u16(4).u16(0).finish());
}

/** What a handler returns to close the connection without a response. */
export const disconnect: SmbResponse = {
  ...errorResponse(Status.invalidParameter),
  closesConnection: true,
};

/** One request as the handlers in `smb/operations` get it: its bytes, its connection, and what
 *  decryption and compounds add to it. */
export interface Request {
  readonly header: Header;
  /** Header and body, with the padding inside a compound. */
  readonly message: Buffer;
  readonly connection: Connection;
  /** The session whose key encrypted the request, and must encrypt the response; undefined if the
   *  request was not encrypted. */
  readonly encryptedBy: Session | undefined;
  /** The ids that a related request inherits in a compound; undefined for any other request. */
  readonly previous: RelatedContext | undefined;
  readonly lifetime: RequestLifetime;
}

/** The session that a request names. Undefined if the connection has no session with this id. */
export function sessionOf({ connection, header }: Request): Session | undefined {
  return connection.channels.get(header.sessionId)?.session;
}

/** The file handle that a request has used, after it was handled; undefined if it used none, or a
 *  pipe. For the audit log and the request feed. */
export function usedFile(
  { lifetime }: Request,
  session: Session | undefined,
): FileHandle | undefined {
  const handle = lifetime.fileId && session?.handles.get(lifetime.fileId.volatile);
  return handle?.kind === "file" ? handle : undefined;
}

/** A request with the session that its header names, for handlers that need one. */
export interface SessionRequest extends Request {
  readonly session: Session;
}

/** A request with the tree connect (the connected share) that its header names. */
export interface TreeRequest extends SessionRequest {
  readonly tree: TreeConnect;
}

export type Handler<R> = (request: R) => CommandResult | Promise<CommandResult>;

/** The client and command of a request, for the list of waiting requests in the admin API. */
interface RequestOrigin {
  readonly client: string;
  readonly command: number;
}

/** A request while it runs: whether it was cancelled, and whether it is pending, which means that
 *  the client got an interim response because the request waits. */
export class RequestLifetime {
  readonly origin: RequestOrigin;
  /** The id that the interim response has; undefined until the request is pending. */
  asyncId: bigint | undefined;
  /** The FileId that the request has used: its own, or inherited in a compound. */
  fileId: FileId | undefined;
  /** Whether the request continues when its connection is lost. The end of its session cancels
   *  it. */
  outlivesConnection = false;
  /** Called once, when the handler has finished, to end the counting of `countRequest`. */
  whenHandled: (() => void) | undefined;
  readonly #sendInterim: (lifetime: RequestLifetime) => NtStatus | undefined;
  readonly #listeners = new Set<() => void>();
  #isCancelled = false;

  constructor(
    origin: RequestOrigin,
    sendInterim: (lifetime: RequestLifetime) => NtStatus | undefined,
  ) {
    this.origin = origin;
    this.#sendInterim = sendInterim;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Makes the request pending, before it waits: sends its interim response (STATUS_PENDING) if it
   *  was not sent. Returns the status with which the request must fail if it may not wait. */
  goAsync(): NtStatus | undefined {
    return this.asyncId === undefined ? this.#sendInterim(this) : undefined;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Calls the listener when the request is cancelled; at once if it already is. The returned
   *  function removes the listener. */
  onCancel(listener: () => void): () => void {
    if (this.#isCancelled) listener();
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Bytes that one credit pays for, in a request or its response ([MS-SMB2] 3.1.5.2). */
export const bytesPerCredit = 65_536;

/** Whether a request asks for more bytes than NEGOTIATE permits, or transfers more (`moved`) than
 *  its credits pay for. The caller answers STATUS_INVALID_PARAMETER. */
export function exceedsLimits(request: Request, requested: number, moved = requested): boolean {
  return requested > transactBytesMax || !coversBytes(request, moved);
}

/** Whether the credits of a request pay for so many bytes ([MS-SMB2] 3.3.5.2.5). */
export function coversBytes({ header, connection }: Request, bytes: number): boolean {
  if (connection.dialect === Dialect.v202) return bytes <= bytesPerCredit;
  return bytes <= Math.max(1, header.creditCharge) * bytesPerCredit;
}

/** Why a request stops waiting: it was cancelled, or it may not become pending. */
interface Stopped {
  readonly kind: "stopped";
  readonly status: NtStatus;
}

/** Runs a file operation for a request, again and again while it must wait for a byte-range lock or
 *  a break of a caching grant. Sends an interim response before the first wait. Returns the status
 *  if the operation fails, the client cancels it, or the request may not wait. `ranges` are those
 *  that it wants to lock, for the list of waiting requests. */
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
