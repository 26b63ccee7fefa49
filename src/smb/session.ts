import type { Channel } from "./channel.ts";
import type { Connection, Negotiated } from "./connection.ts";
import type { Encryptor } from "./crypto/encryption.ts";
import type { Signer } from "./crypto/signing.ts";
import type { Handle } from "./handle.ts";
import type { RequestLifetime } from "./request.ts";
import type { TreeConnect } from "./tree.ts";

/** One login of a client. Further connections may join it; it ends with the last of them. */
export class Session {
  readonly id: bigint;
  /** What was agreed on the connection it began on; those that join must have agreed the same. */
  readonly negotiated: Negotiated;
  /** The account that logged in; empty until it has. */
  account = "";
  isValid = false;
  /** The client has logged in again as nobody: what is open stays so, and nothing is opened. */
  isAnonymous = false;
  /** Of the first channel; whoever joins shows with it that it knows the session. */
  signer: Signer | undefined;
  encryptor: Encryptor | undefined;
  signingRequired = false;
  /** Messages in the clear are refused. */
  requiresEncryption = false;
  readonly channels = new Set<Channel>();
  readonly trees = new Map<number, TreeConnect>();
  /** By volatile id. */
  readonly handles = new Map<bigint, Handle>();
  /** Requests that wait and do not end with their connection, only with the session. */
  readonly #pending = new Set<RequestLifetime>();
  #lastTreeId = 0;

  constructor(id: bigint, negotiated: Negotiated) {
    this.id = id;
    this.negotiated = negotiated;
  }

  keepPending(life: RequestLifetime): void {
    life.outlivesConnection = true;
    this.#pending.add(life);
  }

  dropPending(life: RequestLifetime): void {
    this.#pending.delete(life);
  }

  cancelPending(): void {
    for (const life of this.#pending) life.cancel();
  }

  nextTreeId(): number {
    this.#lastTreeId += 1;
    return this.#lastTreeId;
  }

  /** A way to the client: the connection it prefers, or another one that it joined. */
  connectionFor(preferred: Connection): Connection | undefined {
    if (!this.isValid) return undefined;
    if (preferred.isOpen) return preferred;
    for (const { isValid, connection } of this.channels) {
      if (isValid && connection.isOpen) return connection;
    }
    return undefined;
  }
}
