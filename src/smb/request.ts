import type { SmbResponse, FileId } from "./response.ts";
import type { RelatedContext } from "./compound-request.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";
import type { NtStatus } from "./status.ts";
import type { TreeConnect } from "./tree.ts";
import type { Header } from "./wire/header.ts";

/** One request with what the server knows of its sender. */
export interface Request {
  readonly header: Header;
  /** Header and body, with the padding inside a compound. */
  readonly message: Buffer;
  readonly connection: Connection;
  /** It arrived encrypted; its response must be encrypted as well. */
  readonly isEncrypted: boolean;
  /** The session whose key encrypted it. */
  readonly encryptedBy: Session | undefined;
  /** Set for a related request of a compound. */
  readonly previous: RelatedContext | undefined;
  readonly lifetime: RequestLifetime;
}

/** A request whose SessionId is valid. */
export interface SessionRequest extends Request {
  readonly session: Session;
}

/** A request whose TreeId is valid. */
export interface TreeRequest extends SessionRequest {
  readonly tree: TreeConnect;
}

export type Handler<R> = (request: R) => SmbResponse | Promise<SmbResponse>;

/** Cancellation and interim response of one request. */
export class RequestLifetime {
  asyncId: bigint | undefined;
  /** The open that the request resolved its FileId to. */
  fileId: FileId | undefined;
  /** A lost connection does not cancel it; the end of its session does. */
  outlivesConnection = false;
  /** Called once when the handler has finished. */
  whenHandled: (() => void) | undefined;
  readonly #sendInterim: (lifetime: RequestLifetime) => NtStatus | undefined;
  readonly #listeners = new Set<() => void>();
  #isCancelled = false;

  constructor(sendInterim: (lifetime: RequestLifetime) => NtStatus | undefined) {
    this.#sendInterim = sendInterim;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Sends the interim response (STATUS_PENDING) once; returns an error if none is allowed. */
  goAsync(): NtStatus | undefined {
    return this.asyncId === undefined ? this.#sendInterim(this) : undefined;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Calls back at once if already cancelled. The returned function removes the listener. */
  onCancel(listener: () => void): () => void {
    if (this.#isCancelled) listener();
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
