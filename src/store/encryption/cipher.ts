import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import type { Random } from "../../base/world.ts";
import { textOfKey } from "../../encoding/keys.ts";
import { StoreUnavailable } from "../store.ts";

/** Encryption at rest of records and extents: AES-256-GCM with the data keys of the store
 *  (`keyring.ts`). `record-cipher.ts` encrypts the values of a store with it,
 *  `content/extents/encrypted-files.ts` the bytes of extents. */

/** What is sealed. The kind is part of the derivation of the key, so that a sealed record never
 *  opens as content. */
type SealedKind = "record" | "content";

/** The stored bytes are not those that were sealed for this place: they were changed, or moved from
 *  another place, or never encrypted. */
export class SealBroken extends Error {
  override readonly name = "SealBroken";
}

/** Header: kind (1), id of the data key (3), salt of the session (12), counter (8). The tag
 *  follows. */
const saltOffset = 4;
const counterOffset = 16;
const headerBytes = 24;
const tagBytes = 16;
/** Bytes by which `seal` makes a value longer. */
export const sealBytes = headerBytes + tagBytes;
const saltBytes = counterOffset - saltOffset;
const kindBytes = { record: 1, content: 2 } as const;
const algorithm = "aes-256-gcm";
/** Limit of the ids of data keys, which have 24 bits. */
export const dataKeyIdMax = 0xff_ffff;
/** Messages of a session, after which the next one begins. */
const messagesMax = 2 ** 32;
/** Sessions whose keys are kept in memory: those of this process and of earlier ones. */
const sessionsMax = 4096;

interface Session {
  /** Kind, key id and salt: the first bytes of all its messages. */
  readonly start: Uint8Array;
  readonly key: Uint8Array;
  used: number;
}

interface CipherOptions {
  readonly random: Random;
  readonly messagesMax?: number;
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
  /** Called when a message has a data key that this process does not know. */
  onUnknownKey: () => void = () => undefined;

  constructor(options: CipherOptions) {
    this.#options = options;
  }

  /** Replaces the known data keys; `active` is the one that seals. */
  setKeys(keys: ReadonlyMap<number, Uint8Array>, active: number): void {
    if (!keys.has(active)) throw new RangeError(`there is no data key ${active}`);
    this.#keys = keys;
    if (active !== this.#active) for (const kind of kinds) delete this.#own[kind];
    this.#active = active;
  }

  /** Encrypts bytes for one place. It is authenticated with them, so that bytes that were moved to
   *  another place cannot be opened. */
  seal(kind: SealedKind, place: Uint8Array, plain: Uint8Array): Uint8Array {
    const sealed = Buffer.allocUnsafe(sealBytes + plain.length);
    this.sealInto(sealed, kind, place, plain);
    return sealed;
  }

  /** Does the same into `sealed`, which has `sealBytes` more than `plain`. */
  sealInto(sealed: Buffer, kind: SealedKind, place: Uint8Array, plain: Uint8Array): void {
    const session = this.#session(kind);
    sealed.set(session.start);
    sealed.writeUInt32BE(Math.floor(session.used / 2 ** 32), counterOffset);
    sealed.writeUInt32BE(session.used % 2 ** 32, counterOffset + 4);
    // Counted before the use: an exception must not lead to a second use.
    session.used += 1;
    const cipher = createCipheriv(algorithm, session.key, nonceOf(sealed));
    cipher.setAAD(place);
    sealed.set(cipher.update(plain), sealBytes);
    cipher.final();
    sealed.set(cipher.getAuthTag(), headerBytes);
  }

  /** Decrypts bytes that were sealed for this place; throws `SealBroken` otherwise. */
  open(kind: SealedKind, place: Uint8Array, sealed: Uint8Array): Uint8Array {
    if (sealed.length < sealBytes || sealed[0] !== kindBytes[kind]) {
      throw new SealBroken(`not encrypted as ${kind}`);
    }
    const decipher = createDecipheriv(algorithm, this.#keyOf(sealed), nonceOf(sealed));
    decipher.setAAD(place);
    decipher.setAuthTag(sealed.subarray(headerBytes, sealBytes));
    const plain = decipher.update(sealed.subarray(sealBytes));
    try {
      decipher.final();
    } catch (error) {
      const why = "changed, or moved from another place";
      throw new SealBroken(`encrypted ${kind} is not authentic: ${why}`, { cause: error });
    }
    return new Uint8Array(plain.buffer, plain.byteOffset, plain.length);
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

  /** The session key of a message, which the first bytes of the message name. */
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

/** The header of a sealed message: no other message ever has the same. */
export function headerText(sealed: Uint8Array): string {
  return textOfKey(sealed, 0, headerBytes);
}

/** The last 4 bytes of the salt and the counter: unique under the key of its session. */
function nonceOf(message: Uint8Array): Uint8Array {
  return message.subarray(headerBytes - 12, headerBytes);
}
