import type { ClaimNames } from "../../../account/identity.ts";
import type { Awaitable } from "../../../base/awaitable.ts";
import { RecentMap } from "../../../encoding/recent-map.ts";
import { isTokenForm, parseTokenPart } from "../claims.ts";
import type { TrustedIssuer, TrustedIssuers } from "./trusted-issuers.ts";
import type { VerificationKey } from "./verification-keys.ts";

/** The result of verifying a token: its claims, or the reason for its rejection. Lifetime, audience
 *  and account are not part of it: they are checked at each use. */
export type TokenVerdict = VerifiedToken | { readonly refusal: string };

export interface VerifiedToken {
  readonly refusal?: undefined;
  readonly issuer: TrustedIssuer;
  /** The claim `iss`. */
  readonly issuerName: string;
  readonly key: VerificationKey;
  readonly objectId: string;
  readonly tenantId: string;
  readonly groups: readonly string[];
  readonly audiences: readonly string[];
  /** Unix seconds. */
  readonly notBefore: number | undefined;
  /** Unix seconds. */
  readonly expires: number;
}

/** Limit of this server for cached tokens and their verdicts: about 13,000 tokens of 1.5 KiB. */
const cacheBytesMax = 32 * 1024 * 1024;
/** Estimated size of a verdict without its token. */
const verdictBytes = 1024;
/** The last characters of a token are the end of its signature: 252 bits, which no two verified
 *  tokens share. */
const signatureEndUnits = 42;
/** Limit of this server for a token, in UTF-16 code units. Tokens of Entra ID are shorter. */
const tokenUnitsMax = 16 * 1024;
/** Limit of this server for a claim, in UTF-16 code units. Longer claims are ignored. */
const textUnitsMax = 256;
/** Limit of this server for groups and audiences. Further ones are ignored. */
const groupsMax = 256;

interface CachedToken {
  readonly token: string;
  readonly verdict: VerifiedToken;
}

/**
 * Verifies the signatures of bearer tokens. Verified tokens are cached for all connections, and
 * found by the end of their signature: hashing a whole token would take longer than comparing it. A
 * token with the same end and other claims is not equal to the cached one, and is verified.
 */
export class TokenVerifier {
  readonly #issuers: TrustedIssuers;
  readonly #verified = new RecentMap<CachedToken>(
    cacheBytesMax,
    (_, { token }) => token.length + verdictBytes,
  );

  constructor(issuers: TrustedIssuers) {
    this.#issuers = issuers;
  }

  /** Whether the configuration requires verified tokens, with or without `--oauth`. */
  get isConfigured(): boolean {
    return this.#issuers.isConfigured;
  }

  /** Returns a promise only at the first use of a token. */
  verify(token: string): Awaitable<TokenVerdict> {
    if (token.length > tokenUnitsMax) return { refusal: "The token is too long." };
    const known = this.#verified.get(token.slice(-signatureEndUnits));
    if (known?.token === token && this.isTrusted(known.verdict)) return known.verdict;
    return this.#verifyNew(token);
  }

  close(): void {
    this.#issuers.close();
  }

  /** Whether the issuer and the key of a verified token are still trusted. */
  isTrusted({ issuer, issuerName, key }: VerifiedToken): boolean {
    return issuer.keys.has(key) && this.#issuers.isTrusted(issuer, issuerName);
  }

  async #verifyNew(token: string): Promise<TokenVerdict> {
    if (!isTokenForm(token)) return { refusal: "Malformed token." };
    const [head = "", payload = ""] = token.split(".", 2);
    const header = parseTokenPart(head);
    const claims = parseTokenPart(payload);
    if (header === undefined || claims === undefined) return { refusal: "Malformed token." };
    const issuerName = claims.get("iss");
    const issuer = typeof issuerName === "string" ? this.#issuers.find(issuerName) : undefined;
    if (issuer === undefined || typeof issuerName !== "string") {
      return { refusal: "Issuer validation failed. Issuer did not match." };
    }
    const key = await findKey(issuer, header);
    if (key === undefined || !(await isSignedBy(token, key))) {
      return { refusal: "Signature validation failed." };
    }
    const caller = callerOf(claims, issuer.claims);
    const expires = claims.get("exp");
    const notBefore = claims.get("nbf");
    if (caller === undefined) return { refusal: "The token names no principal." };
    if (typeof expires !== "number") {
      return { refusal: "Lifetime validation failed. The token has no expiration time." };
    }
    const verdict: VerifiedToken = {
      issuer,
      issuerName,
      key,
      ...caller,
      audiences: textsOf(claims.get("aud")),
      notBefore: typeof notBefore === "number" ? notBefore : undefined,
      expires,
    };
    this.#verified.set(token.slice(-signatureEndUnits), { token, verdict });
    return verdict;
  }
}

type Claims = ReadonlyMap<string, unknown>;

/** Asks the issuer for new keys if it does not have this one yet. */
async function findKey(
  { keys }: TrustedIssuer,
  header: Claims,
): Promise<VerificationKey | undefined> {
  const id = header.get("kid");
  if (id !== undefined && typeof id !== "string") return undefined;
  const known = keys.find(id);
  const key = known ?? (await keys.refresh().then(() => keys.find(id)));
  return key?.algorithm === header.get("alg") ? key : undefined;
}

/** Whether the key signed the token. The algorithm is that of the key, whatever the token names. */
async function isSignedBy(token: string, { key, algorithm }: VerificationKey): Promise<boolean> {
  const { compactVerify } = await import("jose");
  return compactVerify(token, key, { algorithms: [algorithm] }).then(
    () => true,
    () => false,
  );
}

function callerOf(claims: Claims, names: ClaimNames) {
  const objectId = textOf(claims.get(names.objectId)) ?? subjectOf(claims, names);
  if (objectId === undefined) return undefined;
  const tenantId = textOf(claims.get(names.tenantId)) ?? "";
  return { objectId, tenantId, groups: textsOf(claims.get(names.groups)) };
}

/** Issuers other than Entra ID have no object ids; their subject identifies the caller. */
function subjectOf(claims: Claims, { objectId }: ClaimNames): string | undefined {
  return objectId === "oid" ? textOf(claims.get("sub")) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= textUnitsMax
    ? value
    : undefined;
}

function textsOf(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value.slice(0, groupsMax) : [value];
  return list.map(textOf).filter((text) => text !== undefined);
}
