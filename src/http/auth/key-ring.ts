import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import type { AccountKeys } from "../../account/settings.ts";
import { RecentMap } from "../../encoding/recent-map.ts";
import type { AuthRequest } from "./request.ts";
import type { SasVerdict } from "./sas-verdict.ts";

/** Most cached tokens per account; each takes about 1 KiB. */
const verdictsMax = 16_384;
/** Most accounts with cached keys. */
const ringsMax = 4_096;

/** The decoded keys of an account, and the tokens that were verified with them. */
export interface KeyRing {
  readonly source: AccountKeys;
  readonly keys: readonly KeyObject[];
  readonly verdicts: RecentMap<SasVerdict>;
  /** Verified account SAS tokens by query: unlike other tokens they depend only on the query. */
  readonly byQuery: WeakMap<AuthRequest["query"], SasVerdict>;
}

/** One key ring per account. If a key changes, a new ring is created, so that no token verified
 *  with the old key stays valid. */
export class KeyRings {
  readonly #rings = new Map<string, KeyRing>();

  of(account: string, keys: AccountKeys): KeyRing {
    const known = this.#rings.get(account);
    if (known !== undefined && sameKeys(known.source, keys)) return known;
    if (this.#rings.size >= ringsMax) this.#rings.clear();
    const ring = {
      source: keys,
      keys: keys.map((key) => createSecretKey(Buffer.from(key, "base64"))),
      verdicts: new RecentMap<SasVerdict>(verdictsMax),
      byQuery: new WeakMap<AuthRequest["query"], SasVerdict>(),
    };
    this.#rings.set(account, ring);
    return ring;
  }
}

function sameKeys(left: AccountKeys, right: AccountKeys): boolean {
  return left === right || (left[0] === right[0] && left[1] === right[1]);
}

/** The Base64 HMAC-SHA256 of a text. */
export function sign(key: KeyObject, text: string): string {
  return createHmac("sha256", key).update(text, "utf8").digest("base64");
}

export function isSignedBy(key: KeyObject, text: string, signature: string): boolean {
  // Compares the Base64 texts and not the bytes, because Base64 has several spellings of one value.
  const expected = Buffer.from(sign(key, text), "latin1");
  const given = Buffer.from(signature, "latin1");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

export function isSignedByAny(ring: KeyRing, text: string, signature: string): boolean {
  return signingKey(ring, text, signature) !== undefined;
}

/** The position of the key that made the signature; undefined if none did. */
export function signingKey(ring: KeyRing, text: string, signature: string): number | undefined {
  for (let index = 0; index < ring.keys.length; index += 1) {
    if (isSignedBy(ring.keys[index]!, text, signature)) return index;
  }
  return undefined;
}
