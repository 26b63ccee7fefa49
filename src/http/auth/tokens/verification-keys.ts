import type { CryptoKey } from "jose";

/** The public keys with which tokens of an issuer are verified, from its published JWK set (RFC
 *  7517). `token-verifier.ts` fetches the set and verifies with the keys. */

/** A public key of an issuer. Cached verdicts refer to the key, so that they become invalid when
 *  the issuer removes it. */
export interface VerificationKey {
  /** Id of the key. Undefined if the issuer gives its keys no ids. */
  readonly id: string | undefined;
  /** The only algorithm that the key is used with: a token cannot choose another. */
  readonly algorithm: "RS256" | "ES256";
  readonly key: CryptoKey | Uint8Array;
  /** Equal for equal keys with the same id, by which a key that is fetched again is recognised. */
  readonly fingerprint: string;
}

/** Where the verifier finds the current keys of an issuer: fetched from it (`RemoteKeys`), or those
 *  of the local token service. */
export interface KeySource {
  /** The key with this id. Without an id: the issuer's only key; undefined if it has several. */
  find(id: string | undefined): VerificationKey | undefined;
  /** Whether the issuer still has the key. */
  has(key: VerificationKey): boolean;
  /** Fetches the keys of the issuer again; does nothing if they were fetched shortly before. */
  refresh(): Promise<void>;
  close(): void;
}

/** Most keys of an issuer, and longest id of a key; issuers publish a few. Further keys and longer
 *  ids are ignored. */
const keysMax = 64;
const idUnitsMax = 256;

/** Reads a JWK set. Keys of other kinds than RSA and P-256, for encryption, and malformed ones are
 *  left out. Throws if the document is no JWK set: it is then no statement about the keys. */
export async function importKeySet(document: unknown): Promise<readonly VerificationKey[]> {
  const { importJWK } = await import("jose");
  const keys: VerificationKey[] = [];
  for (const jwk of listOf(document).slice(0, keysMax)) {
    const algorithm = algorithmOf(jwk);
    const id = jwk["kid"];
    const isUsable = id === undefined || (typeof id === "string" && id.length <= idUnitsMax);
    if (algorithm === undefined || !isUsable) continue;
    try {
      const only = publicPart(jwk);
      const key = await importJWK(only, algorithm);
      keys.push({ id, algorithm, key, fingerprint: JSON.stringify([id, only]) });
    } catch {
      // A malformed key is omitted, and all other keys of the issuer are used.
    }
  }
  return keys;
}

type JsonWebKey = Readonly<Record<string, unknown>>;

function listOf(document: unknown): readonly JsonWebKey[] {
  const keys =
    typeof document === "object" && document !== null && "keys" in document
      ? document.keys
      : undefined;
  if (!Array.isArray(keys)) throw new Error("the document has no list of keys");
  return keys.filter((one): one is JsonWebKey => typeof one === "object" && one !== null);
}

function algorithmOf({ kty, crv, use, alg }: JsonWebKey): VerificationKey["algorithm"] | undefined {
  if (use !== undefined && use !== "sig") return undefined;
  const natural = kty === "RSA" ? "RS256" : kty === "EC" && crv === "P-256" ? "ES256" : undefined;
  return alg === undefined || alg === natural ? natural : undefined;
}

function publicPart({ kty, n, e, crv, x, y }: JsonWebKey): { readonly kty: string } {
  const fields = { n, e, crv, x, y };
  const given = Object.entries(fields).filter(([, value]) => typeof value === "string");
  return { kty: String(kty), ...Object.fromEntries(given) };
}

/** The keys of an issuer as they were fetched last. They are replaced as a whole. */
export class KeySet {
  #keys: readonly VerificationKey[] = [];

  /** Keys that stay keep their identity, so that verdicts about their tokens stay valid. */
  replace(keys: readonly VerificationKey[]): void {
    const known = new Map(this.#keys.map((key) => [key.fingerprint, key]));
    this.#keys = keys.map((key) => known.get(key.fingerprint) ?? key);
  }

  find(id: string | undefined): VerificationKey | undefined {
    if (id === undefined) return this.#keys.length === 1 ? this.#keys[0] : undefined;
    return this.#keys.find((key) => key.id === id);
  }

  has(key: VerificationKey): boolean {
    return this.#keys.includes(key);
  }
}
