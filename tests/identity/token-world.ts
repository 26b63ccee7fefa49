import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from "jose";
import { ticksPerSecond, unixEpochTicks } from "../../src/base/ticks.ts";
import { blobService } from "../../src/blob/service.ts";
import { defaultClaims, noIdentity, type IssuerSettings } from "../../src/account/identity.ts";
import { TokenVerifier, TrustedIssuers } from "../../src/http/auth/tokens/token-verifier.ts";
import { simService } from "../harness/sim-service.ts";
import { rulesFrom } from "./rules.ts";
import { silentLog as log } from "../harness/silent-log.ts";

export interface SigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly privateKey: CryptoKey;
  readonly published: JWK;
}

export async function signingKey(id: string, algorithm = "RS256"): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const published = { ...(await exportJWK(publicKey)), kid: id, alg: algorithm, use: "sig" };
  return { id, algorithm, privateKey, published };
}

export const issuer = "https://login.example/tenant";
export const keysAddress = `${issuer}/keys`;

interface Documents {
  /** Undefined: the address of the keys answers with another document. */
  keys: JWK[] | undefined;
  isDown: boolean;
  /** The OpenID Connect configuration. */
  configuration: object;
  /** Addresses that were fetched. */
  readonly fetched: string[];
}

function fetcherOf(documents: Documents) {
  return async (address: string): Promise<unknown> => {
    documents.fetched.push(address);
    if (documents.isDown) throw new Error("unreachable");
    return address === keysAddress ? { keys: documents.keys } : documents.configuration;
  };
}

const roleAssignments = [{ principal: "me", role: "Storage Blob Data Reader" }];

/** The blob service with one external issuer, whose documents the test controls. */
export async function tokenWorld(
  keys: readonly SigningKey[],
  settings: Partial<IssuerSettings> = {},
) {
  const published = keys.map((key) => key.published);
  const configuration = { issuer, jwks_uri: keysAddress };
  const documents: Documents = { keys: published, isDown: false, configuration, fetched: [] };
  const fetchDocument = fetcherOf(documents);
  const trusted = {
    issuer,
    audiences: [],
    jwks: undefined,
    accounts: undefined,
    claims: defaultClaims,
    ...settings,
  };
  let identity = { ...noIdentity, issuers: [trusted] };
  const sim = await simService(blobService, {
    account: { roles: rulesFrom({ roleAssignments }) },
    http: { oauth: undefined },
    tokens: (clock) =>
      new TokenVerifier(
        new TrustedIssuers({
          identity: () => identity,
          local: undefined,
          clock,
          log,
          fetchDocument,
        }),
      ),
  });
  await sim.send({ method: "PUT", path: "/one?restype=container" });
  const now = () => Number((sim.clock.wall() - unixEpochTicks) / ticksPerSecond);
  return {
    sim,
    documents,
    now,
    /** A token with the usual claims and these. */
    token: (key: SigningKey, claims: Record<string, unknown> = {}, header = {}) =>
      new SignJWT({
        iss: issuer,
        aud: "https://storage.azure.com",
        oid: "me",
        iat: now(),
        exp: now() + 3600,
        ...claims,
      })
        .setProtectedHeader({ alg: key.algorithm, kid: key.id, ...header })
        .sign(key.privateKey),
    /** Status of a request for the container with the token. */
    async status(token: string, method = "GET", secure = true): Promise<number> {
      const headers = { authorization: `Bearer ${token}` };
      const call = { method, path: "/one?restype=container", headers };
      return (await sim.sendAs(call, secure)).status;
    },
    reconfigure(issuers: readonly IssuerSettings[]): void {
      identity = { ...noIdentity, issuers: [...issuers] };
    },
    trusted,
  };
}
