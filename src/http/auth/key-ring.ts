import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";
import type { KeyObject } from "node:crypto";

import type { AccountKeys } from "../../account/settings.ts";
import { RecentMap } from "../../encoding/recent-map.ts";
import type { AuthRequest } from "./request.ts";
import { checkValidityPeriod } from "../../protocol/authentication-faults.ts";
import { sourceIpMismatch } from "../../protocol/faults.ts";
import type { Principal } from "../../protocol/principal.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { isWithin } from "./address-range.ts";
import type { AddressRange } from "./address-range.ts";

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

/** A verified token: its principal, and the restrictions that are checked for each request. */
export interface SasVerdict {
  readonly principal: Principal;
  readonly start: Ticks | undefined;
  /** Undefined only if a stored policy supplies the expiry. */
  readonly expiry: Ticks | undefined;
  readonly addresses: AddressRange | undefined;
  readonly httpsOnly: boolean;
}

/** Checks time, client address and protocol of a request with a verified token. */
export function applyVerdict(verdict: SasVerdict, request: AuthRequest): Result<Principal> {
  const { start, expiry, addresses, principal } = verdict;
  if (expiry !== undefined || !awaitsPolicy(principal)) {
    const window = checkValidityPeriod({ start, expiry }, request.wallNow);
    if (!window.ok) return window;
  }
  if (verdict.httpsOnly && !request.secure) return fail("AuthorizationProtocolMismatch");
  if (addresses !== undefined && !isWithin(addresses, request.remoteAddress)) {
    return sourceIpMismatch(request.remoteAddress ?? "");
  }
  return ok(principal);
}

function awaitsPolicy(principal: Principal): boolean {
  return principal.kind === "service-sas" && principal.identifier !== undefined;
}
