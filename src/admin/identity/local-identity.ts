import type { JWK } from "jose";
import type { LocalIssuer } from "../../http/auth/tokens/trusted-issuers.ts";

/** The local token service's own data: in the data folder, or in memory without one. */
export interface LocalIdentity extends LocalIssuer {
  /** Reads or creates it at the first use: most servers issue no tokens. */
  load(): Promise<IdentityData>;
  /** As `load`, with a new key if the newest is too old to sign. */
  loadForSigning(): Promise<IdentityData>;
}

export interface IdentityData {
  /** Part of the issuer's address. */
  readonly tenantId: string;
  /** Authorises programs of this user to get tokens of the developer identity. */
  readonly developerSecret: string;
  /** The newest key signs; older ones are published until their tokens have expired. */
  readonly keys: readonly StoredKey[];
}

export interface StoredKey {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly privateKey: JWK;
}

/** The public part of the keys, as a JWK set. */
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
