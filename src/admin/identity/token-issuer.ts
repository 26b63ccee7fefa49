import type { PrincipalSettings } from "../../account/identity.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock, Random } from "../../base/world.ts";
import type { LocalIdentity } from "./local-identity.ts";

export const tokenLifeSeconds = 3600;

export interface IssuedToken {
  readonly accessToken: string;
  /** Unix seconds. */
  readonly expiresOn: number;
}

export interface TokenIssuerOptions {
  readonly identity: LocalIdentity;
  readonly clock: Clock;
  readonly random: Random;
  /** The address of the admin listener. */
  readonly address: () => string;
}

/** Signs tokens of local principals for Azure Storage, RS256. */
export class TokenIssuer {
  readonly #options: TokenIssuerOptions;

  constructor(options: TokenIssuerOptions) {
    this.#options = options;
  }

  /** `base` is the address at which the client found the token service; undefined: that of the
   *  admin listener. */
  async issue(principal: PrincipalSettings, audience: string, base?: string): Promise<IssuedToken> {
    const { identity, clock, random, address } = this.#options;
    const { SignJWT, importJWK } = await import("jose");
    const data = await identity.loadForSigning();
    const [newest] = data.keys;
    if (newest === undefined) throw new Error("the token service has no key");
    const now = Number((clock.wall() - unixEpochTicks) / ticksPerSecond);
    const { objectId, clientId, groups } = principal;
    const claims = {
      aud: audience,
      iss: issuerAt(base ?? address(), data.tenantId),
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
}

/** The issuer of the token service at this address. */
export function issuerAt(base: string, tenantId: string): string {
  return `${base}/${tenantId}/v2.0`;
}

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
