import {
  authenticationFailed,
  checkValidityPeriod,
  malformedAuthorization,
} from "../../protocol/authentication-faults.ts";
import { parseHttpDate } from "../../base/dates.ts";
import { invalidHeader, sourceIpMismatch } from "../../protocol/faults.ts";
import { keyPrincipal, secondKeyPrincipal, type Principal } from "../../protocol/principal.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import {
  repeatedSignedHeader,
  sharedKeyText,
  stringToSignVariants,
  type SharedKeyScheme,
} from "../../protocol/signing/shared-key.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { oldestVersion } from "../../protocol/versions.ts";
import type { AuthRequest } from "./request.ts";
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import type { AccountKeys } from "../../account/settings.ts";
import { RecentMap } from "../../process/memo.ts";
import { isWithin, type AddressRange } from "./sas-fields.ts";

/** Verifies requests that are signed with an account key (Shared Key and Shared Key Lite), and
 *  keeps the decoded keys of accounts and the SAS tokens that were verified with them.
 *  learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */

/** Most difference between the date of a request and the clock of the server, as in Azure. */
const dateSkewMax: Ticks = 15n * 60n * ticksPerSecond;

const accepted = ok(keyPrincipal);
const acceptedSecond = ok(secondKeyPrincipal);

/** Verifies a Shared Key signature. `credentials` is the text after the scheme in the Authorization
 *  header: `account:signature`. */
export function authenticateSharedKey(
  request: AuthRequest,
  ring: KeyRing,
  scheme: SharedKeyScheme,
  credentials: string,
): Result<Principal> {
  const colon = credentials.indexOf(":");
  if (colon <= 0 || colon === credentials.length - 1) return malformedAuthorization();
  const account = credentials.slice(0, colon);
  if (account !== request.account) {
    return authenticationFailed(
      `Cannot find the claimed account when trying to GetProperties for the account ${account}.`,
    );
  }
  const key = verifySigned(request, ring.keys, scheme, credentials.slice(colon + 1));
  if (!key.ok) return key;
  return key.value === 0 ? accepted : acceptedSecond;
}

/** Verifies headers, date and signature of a request. Returns which key of the account signed it: 0
 *  for the first. */
export function verifySigned(
  request: AuthRequest,
  keys: KeyRing["keys"],
  scheme: SharedKeyScheme,
  signature: string,
): Result<number> {
  const repeated = repeatedSignedHeader(request.rawHeaders);
  if (repeated !== undefined) return invalidHeader(repeated, request.header(repeated) ?? "");
  return checkDate(request) ?? checkSignature(request, keys, scheme, signature);
}

function checkSignature(
  request: AuthRequest,
  keys: KeyRing["keys"],
  scheme: SharedKeyScheme,
  signature: string,
): Result<number> {
  const tried: string[] = [];
  for (const signable of signableForms(request)) {
    for (const reading of stringToSignVariants) {
      const text = sharedKeyText(signable, request.service, scheme, reading);
      if (tried.includes(text)) continue;
      const key = signingKey({ keys }, text, signature);
      if (key !== undefined) return ok(key);
      tried.push(text);
    }
  }
  return authenticationFailed(
    `The MAC signature found in the HTTP request '${signature}' is not the same as any computed ` +
      `signature. Server used following string to sign: '${tried[0]}'.`,
  );
}

/** The variants of a request whose signatures are tried. Old and new versions sign a length of 0
 *  differently, and a request without a version may come from either kind of client. */
function signableForms(request: AuthRequest): readonly AuthRequest[] {
  const isVersionNamed = request.header("x-ms-version") !== undefined;
  return isVersionNamed ? [request] : [request, { ...request, version: oldestVersion }];
}

/** Rejects requests whose date is more than 15 min before or after the present time, which limits
 *  how long a captured request can be replayed. */
function checkDate(request: AuthRequest): Failure | undefined {
  const text = request.header("x-ms-date") ?? request.header("date");
  if (text === undefined) return authenticationFailed("Request date header not specified");
  const moment = parseHttpDate(text);
  if (moment === undefined) {
    return authenticationFailed(`Request date header is not well formed: '${text}'`);
  }
  const now = request.clientNow ?? request.wallNow;
  if (moment < now - dateSkewMax) {
    return authenticationFailed(`Request date header too old: '${text}'`);
  }
  if (moment > now + dateSkewMax) {
    return authenticationFailed(`Request date header is in the future: '${text}'`);
  }
  return undefined;
}

/** Most cached SAS tokens per account: 16 MiB, as each takes about 1 KiB. */
const verdictsMax = 16_384;
/** Most accounts whose decoded keys are cached. One more empties the cache, which costs only
 *  decoding them again. */
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
function signingKey(
  ring: Pick<KeyRing, "keys">,
  text: string,
  signature: string,
): number | undefined {
  for (let index = 0; index < ring.keys.length; index += 1) {
    if (isSignedBy(ring.keys[index]!, text, signature)) return index;
  }
  return undefined;
}

/** A verified token: its principal, and the restrictions that are checked for each request. */
export interface SasVerdict {
  readonly principal: Principal;
  readonly start: Ticks | undefined;
  /** When the token ends; undefined if the stored access policy that it names says so. */
  readonly expiry: Ticks | undefined;
  readonly addresses: AddressRange | undefined;
  readonly httpsOnly: boolean;
}

/** Checks of a verified SAS that depend on the request: time, client address and protocol. */
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
