import { createCipheriv, createDecipheriv, createHmac, type CipherGCM } from "node:crypto";
import type { Random } from "../../base/world.ts";
import { textOfKey } from "../../encoding/keys.ts";
import { copyInto, freeBytes } from "../../process/bytes.ts";
import { StoreUnavailable } from "../store.ts";

/** Encryption at rest of records and extents: AES-256-GCM with the data keys of the store
 *  (`keyring.ts`). `record-cipher.ts` encrypts the values of a store with it,
 *  `content/extents/encrypted-files.ts` the bytes of extents. */

/** What is encrypted: the value of a record, or bytes of an extent. The kind is part of the
 *  derivation of the key, so that a sealed record never opens as content. */
type SealedKind = "record" | "content";

/** The stored bytes are not those that were encrypted for this place (a key of the store, a
 *  position of an extent): they were changed, moved from another place, or never encrypted. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

/** What precedes the encrypted bytes, with lengths: kind (1), id of the data key (3), salt of the
 *  session (12), counter (8), authentication tag (16). */
const saltOffset = 4;
const counterOffset = 16;
const headerBytes = 24;
const tagBytes = 16;
/** By how many bytes encryption makes a value longer. */
export const sealBytes = headerBytes + tagBytes;
const saltBytes = counterOffset - saltOffset;
const kindBytes = { record: 1, content: 2 } as const;
const algorithm = "aes-256-gcm";
const zerosBytes = 64 * 1024;
/** Limit of the ids of data keys, which have 24 bits. */
export const dataKeyIdMax = 0xff_ffff;
/** After so many messages a new session (salt and key) begins: NIST's limit for a key of
 *  AES-GCM. */
const messagesMax = 2 ** 32;
/** Limit of the sessions whose keys are cached: each process that ever wrote has had one. */
const sessionsMax = 4096;

interface Session {
  /** Kind, id of the data key and salt: the first bytes of all messages of the session. */
  readonly start: Uint8Array;
  readonly key: Uint8Array;
  used: number;
}

interface CipherOptions {
  readonly random: Random;
  readonly messagesMax?: number;
}

/** Encrypted bytes and their seal: nonce and tag. */
export interface SealedParts {
  readonly seal: Buffer;
  readonly encrypted: Buffer;
}

/** AES-256-GCM with nonces that never repeat, even if processes are killed at any time
 *  (docs/adr/022). A process draws a random salt and derives a session key from the data key and
 *  the salt. Under this key it numbers its messages from 0; the number is the nonce. Salt and
 *  number are stored only in the messages, so there is no state that a kill could set back: the
 *  next process draws another salt. */
export class Cipher {
  readonly #options: CipherOptions;
  #keys: ReadonlyMap<number, Uint8Array> = new Map();
  #active = 0;
  readonly #sessions = new Map<string, Uint8Array>();
  readonly #own: Partial<Record<SealedKind, Session>> = {};
  /** The header of the message that is being sealed, and the nonce in it. */
  readonly #header = Buffer.alloc(headerBytes);
  readonly #nonce = nonceOf(this.#header);
  /** What follows the last bytes of a chunk. */
  readonly #zeros = Buffer.alloc(zerosBytes);
  /** Called when a message has a data key that this process does not know. */
  onUnknownKey: () => void = () => undefined;

  constructor(options: CipherOptions) {
    this.#options = options;
  }

  /** Replaces the known data keys; `active` is the id of the one that encrypts from now on. */
  setKeys(keys: ReadonlyMap<number, Uint8Array>, active: number): void {
    if (!keys.has(active)) throw new RangeError(`there is no data key ${active}`);
    this.#keys = keys;
    if (active !== this.#active) for (const kind of kinds) delete this.#own[kind];
    this.#active = active;
  }

  /** Encrypts bytes for one place, which is authenticated with them: an attacker who moves them
   *  elsewhere makes them unreadable. */
  seal(kind: SealedKind, place: Uint8Array, plain: Uint8Array): Uint8Array {
    const sealed = Buffer.allocUnsafe(sealBytes + plain.length);
    const cipher = this.#begin(kind, place);
    sealed.set(this.#header);
    sealed.set(cipher.update(plain), sealBytes);
    cipher.final();
    sealed.set(cipher.getAuthTag(), headerBytes);
    return sealed;
  }

  /** Does the same for bytes that are stored apart from their seal. If `encrypted` is longer than
   *  `plain`, zeros follow it. */
  sealInto(
    { seal, encrypted }: SealedParts,
    kind: SealedKind,
    { place, plain }: { readonly place: Uint8Array; readonly plain: Uint8Array },
  ): void {
    const cipher = this.#begin(kind, place);
    seal.set(this.#header);
    moveInto(encrypted, cipher.update(plain), 0);
    for (let at = plain.length; at < encrypted.length; at += zerosBytes) {
      moveInto(encrypted, cipher.update(this.#zeros.subarray(0, encrypted.length - at)), at);
    }
    cipher.final();
    seal.set(cipher.getAuthTag(), headerBytes);
  }

  /** Decrypts bytes that were encrypted for this place (key or position); else throws
   *  `SealBroken`. */
  open(kind: SealedKind, place: Uint8Array, sealed: Uint8Array): Uint8Array {
    const seal = sealed.subarray(0, sealBytes);
    return this.openParts(kind, place, { seal, encrypted: sealed.subarray(sealBytes) });
  }

  openParts(
    kind: SealedKind,
    place: Uint8Array,
    { seal, encrypted }: Readonly<Record<keyof SealedParts, Uint8Array>>,
  ): Uint8Array {
    if (seal.length < sealBytes || seal[0] !== kindBytes[kind]) {
      throw new SealBroken(`not encrypted as ${kind}`);
    }
    const decipher = createDecipheriv(algorithm, this.#keyOf(seal), nonceOf(seal));
    decipher.setAAD(place);
    decipher.setAuthTag(seal.subarray(headerBytes, sealBytes));
    const plain = decipher.update(encrypted);
    try {
      decipher.final();
    } catch (error) {
      const why = "changed, or moved from another place";
      throw new SealBroken(`encrypted ${kind} is not authentic: ${why}`, { cause: error });
    }
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.length);
  }

  /** Begins the next message of a session; its header is in `#header`. */
  #begin(kind: SealedKind, place: Uint8Array): CipherGCM {
    const session = this.#session(kind);
    this.#header.set(session.start);
    this.#header.writeUInt32BE(Math.floor(session.used / 2 ** 32), counterOffset);
    this.#header.writeUInt32BE(session.used % 2 ** 32, counterOffset + 4);
    // Counted before the use: an exception must not lead to a second use.
    session.used += 1;
    const cipher = createCipheriv(algorithm, session.key, this.#nonce);
    cipher.setAAD(place);
    return cipher;
  }

  #session(kind: SealedKind): Session {
    const known = this.#own[kind];
    const { random, messagesMax: usesMax = messagesMax } = this.#options;
    if (known !== undefined && known.used < usesMax) return known;
    const start = new Uint8Array(counterOffset);
    start[0] = kindBytes[kind];
    Buffer.from(start.buffer).writeUIntBE(this.#active, 1, 3);
    start.set(random.bytes(saltBytes), saltOffset);
    const session = { start, key: this.#keyOf(start), used: 0 };
    this.#own[kind] = session;
    return session;
  }

  /** The session key of a message, derived from the data key and the salt in its first bytes. */
  #keyOf(message: Uint8Array): Uint8Array {
    const name = textOfKey(message, 0, counterOffset);
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const id = ((message[1] ?? 0) << 16) | ((message[2] ?? 0) << 8) | (message[3] ?? 0);
    const dataKey = this.#keys.get(id);
    if (dataKey === undefined) {
      this.onUnknownKey();
      throw new StoreUnavailable(`data key ${id} of encrypted bytes is not known (yet)`);
    }
    if (this.#sessions.size >= sessionsMax) this.#sessions.clear();
    const key = createHmac("sha256", dataKey).update(message.subarray(0, counterOffset)).digest();
    this.#sessions.set(name, key);
    return key;
  }
}

const kinds = ["record", "content"] as const;

/** Copies the result of a cipher, and frees it. */
function moveInto(target: Buffer, bytes: Buffer, at: number): void {
  copyInto(target, bytes, at);
  freeBytes(bytes);
}

/** The header of a sealed message: no other message ever has the same. */
export function headerText(sealed: Uint8Array): string {
  return textOfKey(sealed, 0, headerBytes);
}

/** A number of 48 bits that hardly any other message has: the last 2 bytes of the salt, because
 *  each session numbers its messages from 0, and the lower half of the counter, which never exceeds
 *  it. The messages of a session have consecutive ones. */
export function messageId(sealed: Uint8Array): number {
  let id = 0;
  for (let at = counterOffset - 2; at < counterOffset; at += 1) id = id * 256 + sealed[at]!;
  for (let at = headerBytes - 4; at < headerBytes; at += 1) id = id * 256 + sealed[at]!;
  return id;
}

/** The nonce of a message: the last 4 bytes of the salt and the counter, unique in a session. */
function nonceOf(message: Uint8Array): Uint8Array {
  return message.subarray(headerBytes - 12, headerBytes);
}
