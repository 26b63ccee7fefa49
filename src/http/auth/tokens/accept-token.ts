import type { BearerPrincipal } from "../../../protocol/principal.ts";
import type { ServiceName } from "../../../protocol/names.ts";
import type { VerifiedToken } from "./token-verifier.ts";

/** Checks of a verified bearer token that depend on its use: time, account, audience, groups. Used
 *  for requests and for logins to the explorer with a token. */

/** The request that a token is used for: account, service and time. */
interface TokenUse {
  readonly account: string;
  readonly service: ServiceName;
  /** Present time in Unix seconds. */
  readonly now: number;
}

/** Tolerance for times in tokens: the clocks of issuer and server may differ. */
const clockSkewSeconds = 60;

export const expired = "Lifetime validation failed. The token is expired.";
export const notYetValid = "Lifetime validation failed. The token is not yet valid.";
export const wrongIssuer = "Issuer validation failed. Issuer did not match.";
export const wrongAudience = "Audience validation failed. Audience did not match.";
const unknownPrincipal = "The principal of the token does not exist any more.";

/** Checks a token with a verified signature for this use: its time, account and audience. Returns
 *  the caller, or the reason why the token is rejected. */
export function acceptToken(token: VerifiedToken, use: TokenUse): BearerPrincipal | string {
  const { issuer, notBefore, expires, objectId, tenantId } = token;
  if (expires <= use.now - clockSkewSeconds) return expired;
  if (notBefore !== undefined && notBefore > use.now + clockSkewSeconds) return notYetValid;
  if (issuer.accounts?.includes(use.account) === false) return wrongIssuer;
  const own = issuer.audiences;
  const isForUs = token.audiences.some((audience) =>
    own.length > 0 ? own.includes(audience) : isAudience(audience, use),
  );
  if (!isForUs) return wrongAudience;
  const groups = issuer.groupsOf === undefined ? token.groups : issuer.groupsOf(objectId);
  if (groups === undefined) return unknownPrincipal;
  return { kind: "bearer", objectId, tenantId, groups };
}

const anyAccountAudiences = new Set([
  "https://storage.azure.com",
  // The application id of Azure Storage, which newer tokens have.
  "e406a681-f3d4-42a8-90b6-c2b029497af1",
]);

const accountAudienceForm = /^https:\/\/([a-z0-9]+)\.(blob|queue|table|file|dfs)\.core\.([a-z.]+)$/;
const audienceClouds = new Set([
  "windows.net",
  "chinacloudapi.cn",
  "usgovcloudapi.net",
  "cloudapi.de",
]);

/** Whether the claim `aud` of a token names Azure Storage, or exactly this account and service. */
export function isAudience(
  audience: string,
  { account, service }: Pick<TokenUse, "account" | "service">,
): boolean {
  const plain = audience.endsWith("/") ? audience.slice(0, -1) : audience;
  if (anyAccountAudiences.has(plain)) return true;
  const found = accountAudienceForm.exec(plain);
  if (found === null || !audienceClouds.has(found[3] ?? "")) return false;
  // The Data Lake API is a second endpoint of the blob service.
  const named = found[2] === "dfs" ? "blob" : found[2];
  return found[1] === account && named === service;
}
