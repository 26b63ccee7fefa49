import type { Channel } from "./channel.ts";
import type { Connection, Negotiated } from "./connection.ts";
import type { Encryptor } from "./crypto/encryption.ts";
import type { Signer } from "./crypto/signing.ts";
import type { Handle } from "./handle.ts";
import type { RequestLifetime } from "./request.ts";
import type { TreeConnect } from "./tree.ts";

/** An authenticated context of a client, on one or more channels ([MS-SMB2] 3.3.1.8). */
export class Session {
  readonly id: bigint;
  /** Negotiated on its first connection; connections that bind must have the same parameters. */
  readonly negotiated: Negotiated;
  /** Storage account; empty until authentication is complete. */
  account = "";
  isValid = false;
  /** Re-authenticated as anonymous: only existing handles and tree connects may be used. */
  isAnonymous = false;
  /** Key of the first channel. A connection that binds signs SESSION_SETUP with it. */
  signer: Signer | undefined;
  encryptor: Encryptor | undefined;
  signingRequired = false;
  /** Unencrypted requests are rejected (Session.EncryptData). */
  requiresEncryption = false;
  readonly channels = new Set<Channel>();
  readonly trees = new Map<number, TreeConnect>();
  /** By volatile id. */
  readonly handles = new Map<bigint, Handle>();
  /** Pending requests that are cancelled with the session, not with their connection. */
  readonly #pending = new Set<RequestLifetime>();
  #lastTreeId = 0;

  constructor(id: bigint, negotiated: Negotiated) {
    this.id = id;
    this.negotiated = negotiated;
  }

  keepPending(lifetime: RequestLifetime): void {
    lifetime.outlivesConnection = true;
    this.#pending.add(lifetime);
  }

  dropPending(lifetime: RequestLifetime): void {
    this.#pending.delete(lifetime);
  }

  cancelPending(): void {
    for (const lifetime of this.#pending) lifetime.cancel();
  }

  nextTreeId(): number {
    this.#lastTreeId += 1;
    return this.#lastTreeId;
  }

  /** A connection to the client: the preferred one, or that of another channel. */
  connectionFor(preferred: Connection): Connection | undefined {
    if (!this.isValid) return undefined;
    if (preferred.isOpen) return preferred;
    for (const { isValid, connection } of this.channels) {
      if (isValid && connection.isOpen) return connection;
    }
    return undefined;
  }
}
