import { createHmac } from "node:crypto";
import type { Random } from "../../base/world.ts";
import { RecentMap } from "../../process/memo.ts";

/** The keys of Azure's encryption scopes on an encrypted store: the content of blobs in a scope is
 *  encrypted with a key of the scope. `http/request/body.ts` encrypts bodies with them,
 *  `content/reader.ts` decrypts. */

export interface ScopeName {
  readonly account: bigint;
  readonly name: string;
}

/** The key and nonce that encrypt one body, by AES-256 in counter mode
 *  (`content/body/receive.ts`). */
interface ScopeCipher {
  readonly key: Uint8Array;
  readonly nonce: bigint;
  /** Scope and salt, from which readers derive the key: `<account>/<name>/<salt>`. Stored with the
   *  slices (stored ranges) of the body. */
  readonly scope: string;
}

interface Session {
  readonly key: Uint8Array;
  readonly scope: string;
  used: bigint;
}

const saltBytes = 12;
/** After this many bodies a new session (salt and key) of a scope begins. */
const bodiesMax = 2n ** 32n;
/** Limit of the total length of the names in each cache of keys. */
const referenceCharactersMax = 512 * 1024;

/** The keys of encryption scopes. They follow from the first data key of the store, which is
 *  random, wrapped by the master key and never removed, so that no key of a scope is stored. A
 *  process uses each with a random salt of its own (a session), as `Cipher` does: no nonce repeats,
 *  whenever a process is killed. */
export class ScopeKeys {
  readonly #root: Uint8Array;
  readonly #random: Random;
  readonly #bodiesMax: bigint;
  readonly #keys = new RecentMap<Uint8Array>(referenceCharactersMax, {
    weigh: (scope) => scope.length,
  });
  readonly #sessions = new RecentMap<Session>(referenceCharactersMax, {
    weigh: (name) => name.length,
  });

  constructor(firstDataKey: Uint8Array, random: Random, sessionBodiesMax = bodiesMax) {
    this.#root = mac(firstDataKey, "etagere encryption scopes");
    this.#random = random;
    this.#bodiesMax = sessionBodiesMax;
  }

  /** Returns the key and a new nonce for a body in an encryption scope. */
  begin({ account, name }: ScopeName): ScopeCipher {
    const id = `${account.toString(16)}/${name}`;
    const known = this.#sessions.get(id);
    const session = known !== undefined && known.used < this.#bodiesMax ? known : this.#open(id);
    // Counted before the use: after an exception the number must not be used again.
    session.used += 1n;
    return { key: session.key, nonce: session.used - 1n, scope: session.scope };
  }

  /** Derives the key that decrypts a slice (stored range of a body) from the `scope` in it. */
  keyOf(scope: string): Uint8Array {
    const known = this.#keys.get(scope);
    if (known !== undefined) return known;
    const end = scope.lastIndexOf("/");
    const key = mac(mac(this.#root, scope.slice(0, end)), scope.slice(end + 1));
    this.#keys.set(scope, key);
    return key;
  }

  #open(id: string): Session {
    const salt = Buffer.from(this.#random.bytes(saltBytes)).toString("base64url");
    const scope = `${id}/${salt}`;
    const session = { key: this.keyOf(scope), scope, used: 0n };
    this.#sessions.set(id, session);
    return session;
  }
}

function mac(key: Uint8Array, text: string): Uint8Array {
  return createHmac("sha256", key).update(text).digest();
}
