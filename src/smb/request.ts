import type { SmbResponse, FileId } from "./response.ts";
import type { RelatedContext } from "./compound-request.ts";
import type { Connection } from "./connection.ts";
import type { Session } from "./session.ts";
import type { NtStatus } from "./status.ts";
import type { TreeConnect } from "./tree.ts";
import type { Header } from "./wire/header.ts";

/** One message on its way through the server. */
export interface Request {
  readonly header: Header;
  /** From the header on, with what pads it in a chain. */
  readonly message: Buffer;
  readonly connection: Connection;
  /** It came encrypted, so its answer goes encrypted. */
  readonly isEncrypted: boolean;
  readonly encryptedBy: Session | undefined;
  /** The message before, if this one is related to it. */
  readonly previous: RelatedContext | undefined;
  readonly lifetime: RequestLifetime;
}

/** A request that names a session that is there. */
export interface SessionRequest extends Request {
  readonly session: Session;
}

/** A request that names a share that is there. */
export interface TreeRequest extends SessionRequest {
  readonly tree: TreeConnect;
}

export type Handler<R> = (request: R) => SmbResponse | Promise<SmbResponse>;

/** Whether a request is still wanted, and whether its sender knows that it takes long. */
export class RequestLifetime {
  asyncId: bigint | undefined;
  /** The handle that the message spoke of. */
  fileId: FileId | undefined;
  /** A lost connection does not cancel it: its session has other channels, or cancels it itself. */
  outlivesConnection = false;
  /** Called once when the request was handled. */
  whenHandled: (() => void) | undefined;
  readonly #sendInterim: (life: RequestLifetime) => NtStatus | undefined;
  readonly #listeners = new Set<() => void>();
  #isCancelled = false;

  constructor(sendInterim: (life: RequestLifetime) => NtStatus | undefined) {
    this.#sendInterim = sendInterim;
  }

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** Tells the client that the answer will come later; returns why that cannot be. */
  goAsync(): NtStatus | undefined {
    return this.asyncId === undefined ? this.#sendInterim(this) : undefined;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Calls back at once if it is cancelled already. The result takes the wish back. */
  onCancel(listener: () => void): () => void {
    if (this.#isCancelled) listener();
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
