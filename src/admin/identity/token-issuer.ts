import { createHmac } from "node:crypto";
import type { IdentityManager } from "../../account/identity-manager.ts";
import type { IdentitySettings, PrincipalSettings } from "../../account/identity.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock, Log, Random } from "../../base/world.ts";
import type { JWK } from "jose";
import type { LocalIssuer } from "../../http/auth/tokens/token-verifier.ts";

/** Issues the access tokens of the local token service, and has the types of its keys and secrets,
 *  which `server/identity-file.ts` stores. */

/** How long an access token is valid; Entra ID issues tokens for about as long. */
export const tokenLifeSeconds = 3600;

export interface IssuedToken {
  readonly accessToken: string;
  /** Expiry in Unix seconds. */
  readonly expiresOn: number;
}

/** Signs an access token of a local principal for Azure Storage, with RS256. `base` is the address
 *  at which the client found the token service; undefined: that of the admin listener. */
export async function issueToken(
  { local, clock, random, address }: IdentityContext,
  { objectId, clientId, groups }: PrincipalSettings,
  audience: string,
  base = address(),
): Promise<IssuedToken> {
  const { SignJWT, importJWK } = await import("jose");
  const data = await local.loadForSigning();
  const [newest] = data.keys;
  if (newest === undefined) throw new Error("the token service has no key");
  const now = Number((clock.wall() - unixEpochTicks) / ticksPerSecond);
  const claims = {
    aud: audience,
    iss: issuerAt(base, data.tenantId),
    iat: now,
    nbf: now,
    exp: now + tokenLifeSeconds,
    appid: clientId,
    ...(groups.length > 0 && { groups }),
    oid: objectId,
    sub: objectId,
    tid: data.tenantId,
    uti: newGuid(random),
    ver: "1.0",
  };
  const accessToken = await new SignJWT(claims)
    .setProtectedHeader({ typ: "JWT", alg: "RS256", kid: newest.id })
    .sign(await importJWK(newest.privateKey, "RS256"));
  return { accessToken, expiresOn: claims.exp };
}

/** The client assertion that a workload of a principal sends instead of its secret: the content of
 *  the file that AZURE_FEDERATED_TOKEN_FILE names. A new secret makes it invalid; it does not
 *  reveal the secret. */
export function assertionOf(secret: string, tenantId: string): string {
  return createHmac("sha256", secret).update(`client assertion ${tenantId}`).digest("hex");
}

/** The claim `iss` of tokens, by the address at which a client found the token service. */
export function issuerAt(base: string, tenantId: string): string {
  return `${base}/${tenantId}/v2.0`;
}

/** An account at Azure, as client libraries may name the audience of a token. */
const accountForm =
  /^https:\/\/[a-z0-9]{1,63}\.(blob|queue|table|file|dfs)\.core\.windows\.net\/?$/;

/** The audience for a `resource` or for the one scope of a request; undefined if it is not Azure
 *  Storage: tokens for other services would be useless. */
export function audienceOf(requested: string): string | undefined {
  const resource = requested.endsWith("/.default")
    ? requested.slice(0, -"/.default".length)
    : requested;
  const plain = resource.replace(/\/+$/, "");
  if (plain === "https://storage.azure.com" || accountForm.test(plain)) return plain;
  return undefined;
}

/** The local token service's own data: in the data folder, or in memory without one. */
export interface LocalIdentity extends LocalIssuer {
  /** Reads the data, or creates it at the first use: most servers issue no tokens. */
  load(): Promise<IdentityData>;
  /** Like `load`, but first creates a new key if the newest is too old to sign. */
  loadForSigning(): Promise<IdentityData>;
  /** Writes the client assertion of a principal to a file; undefined without a data folder. */
  writeAssertion(clientId: string, assertion: string): Promise<string | undefined>;
}

/** What the token service stores; created at its first use: most servers issue no tokens. */
export interface IdentityData {
  /** Id of the tenant, which is a part of the issuer's URL. */
  readonly tenantId: string;
  /** Authorises programs of this user to get tokens of the developer identity. */
  readonly developerSecret: string;
  /** The newest key signs; older ones are published until their tokens have expired. */
  readonly keys: readonly StoredKey[];
}

export interface StoredKey {
  readonly id: string;
  /** Creation time in Unix seconds. */
  readonly createdAt: number;
  readonly privateKey: JWK;
}

/** The public keys as a JSON Web Key Set, with which the services verify tokens. */
export function publishedKeys({ keys }: IdentityData): { readonly keys: readonly JWK[] } {
  return {
    keys: keys.map(({ id, privateKey: { kty, n, e } }) => ({
      kty: kty ?? "RSA",
      n: n ?? "",
      e: e ?? "",
      kid: id,
      alg: "RS256",
      use: "sig",
    })),
  };
}

/** What the token service gets from the server (`server/admin-listener.ts`). */
export interface IdentityContext {
  readonly identity: () => IdentitySettings;
  /** Reads principals that another process has changed. */
  readonly refresh: () => Promise<unknown>;
  /** Changes stored principals and role assignments. */
  readonly manager: IdentityManager;
  readonly local: LocalIdentity;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The URL of the admin listener, which is the base of the issuer's URL. */
  readonly address: () => string;
  /** The HTTPS address of the admin listener, which client libraries require of an authority;
   *  undefined without one. */
  readonly secureAddress: () => string | undefined;
  /** The file with the certificate authority that clients must trust; undefined without one. */
  readonly authorityFile: string | undefined;
}
