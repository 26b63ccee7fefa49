import type { Sealer } from "./crypto/encryption.ts";
import type { Signer } from "./crypto/signing.ts";
import type { Handle } from "./handle.ts";
import type { Login } from "./ntlm/login.ts";
import type { Tree } from "./tree.ts";

/** One login of a client over one connection. */
export class Session {
  readonly id: bigint;
  /** The account that logged in; empty until it has. */
  account = "";
  isValid = false;
  /** Runs while the client logs in, for the first time or again. */
  login: Login | undefined;
  preauthHash: Buffer;
  signer: Signer | undefined;
  sealer: Sealer | undefined;
  signingRequired = false;
  /** Messages in the clear are refused. */
  encrypts = false;
  readonly trees = new Map<number, Tree>();
  /** By volatile id. */
  readonly handles = new Map<bigint, Handle>();
  #lastTreeId = 0;

  constructor(id: bigint, preauthHash: Buffer) {
    this.id = id;
    this.preauthHash = preauthHash;
  }

  nextTreeId(): number {
    this.#lastTreeId += 1;
    return this.#lastTreeId;
  }
}
