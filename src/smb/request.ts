import type { CommandResult, FileId } from "./response.ts";
import { transactBytesMax } from "./limits.ts";
import type { RelatedContext } from "./compound-request.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { Connection } from "./connection.ts";
import type { Session, TreeConnect } from "./session.ts";
import type { NtStatus } from "./status.ts";
import type { Header } from "./wire/header.ts";
import { Dialect } from "./wire/protocol.ts";

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
  /** What the request before it in the compound passes on; undefined unless this is a related
   *  request. */
  readonly previous: RelatedContext | undefined;
  readonly lifetime: RequestLifetime;
}

/** The session that a request names. Undefined if the connection has no session with this id. */
export function sessionOf({ connection, header }: Request): Session | undefined {
  return connection.channels.get(header.sessionId)?.session;
}

/** The file handle that a handled request of a session has used; undefined if it used none, or a
 *  pipe. */
export function usedFile(
  { lifetime }: Request,
  session: Session | undefined,
): FileHandle | undefined {
  const handle = lifetime.fileId && session?.handles.get(lifetime.fileId.volatile);
  return handle?.kind === "file" ? handle : undefined;
}

/** A request with the session that its SessionId names. */
export interface SessionRequest extends Request {
  readonly session: Session;
}

/** A request with the tree connect that its TreeId names. */
export interface TreeRequest extends SessionRequest {
  readonly tree: TreeConnect;
}

export type Handler<R> = (request: R) => CommandResult | Promise<CommandResult>;

/** The client and command of a request, for the list of waiting requests. */
interface RequestOrigin {
  readonly client: string;
  readonly command: number;
}

/** A request while it runs: whether it was cancelled, and whether it is pending, which means that
 *  the client got an interim response because the request waits. */
export class RequestLifetime {
  readonly origin: RequestOrigin;
  asyncId: bigint | undefined;
  /** The FileId that the request used, own or inherited. */
  fileId: FileId | undefined;
  /** Whether the request continues when its connection is lost. The end of its session cancels
   *  it. */
  outlivesConnection = false;
  /** Is called once, when the handler has finished. */
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

  /** Sends the interim response (STATUS_PENDING), if it was not sent before. Returns the status to
   *  fail with if none is allowed. */
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

/** Payload that one credit pays for ([MS-SMB2] 3.1.5.2). */
export const bytesPerCredit = 65_536;

/** Whether a request asks for more bytes than NEGOTIATE permits, or transfers more (`moved`) than
 *  its credits pay for. The caller answers STATUS_INVALID_PARAMETER. */
export function exceedsLimits(request: Request, requested: number, moved = requested): boolean {
  return requested > transactBytesMax || !coversBytes(request, moved);
}

/** Whether the request's CreditCharge covers its payload ([MS-SMB2] 3.3.5.2.5). */
export function coversBytes({ header, connection }: Request, bytes: number): boolean {
  if (connection.dialect === Dialect.v202) return bytes <= bytesPerCredit;
  return bytes <= Math.max(1, header.creditCharge) * bytesPerCredit;
}
