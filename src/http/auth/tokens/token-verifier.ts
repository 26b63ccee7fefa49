import {
  defaultClaims,
  developerPrincipal,
  type ClaimNames,
  type IdentitySettings,
  type IssuerSettings,
} from "../../../account/identity.ts";
import type { Awaitable } from "../../../base/awaitable.ts";
import { RecentMap } from "../../../process/memo.ts";
import { isTokenForm, parseTokenPart } from "../claims.ts";
import { importKeySet, KeySet, type KeySource, type VerificationKey } from "./verification-keys.ts";
import type { Clock, Log } from "../../../base/world.ts";
import { ticksPerSecond, type Ticks } from "../../../base/ticks.ts";
import { isProtected } from "../../../account/parse-identity.ts";

/** Verifies the signatures of bearer tokens with the keys of their issuers: OpenID Connect
 *  providers of the configuration, and the local token service. Keys are fetched in the background,
 *  verified tokens are cached, so that a request seldom waits. */

/** Time between two regular fetches of the keys. Until the next one, a key that the issuer has
 *  removed is accepted. */
const renewMilliseconds = 10 * 60 * 1000;
/** Least time between two fetches: a token with an unknown key id causes one, and anyone can send
 *  such tokens. */
const unknownKeyPause: Ticks = 30n * ticksPerSecond;
/** How long fetched keys are used if the issuer no longer answers. */
const lifeTicks: Ticks = 24n * 3600n * ticksPerSecond;
/** Limits for one fetched document, so that an issuer that is slow or sends too much does not delay
 *  or fill this server. */
const fetchMillisecondsMax = 5000;
const documentBytesMax = 256 * 1024;

/** Fetches a JSON document; rejects if there is none, or when `signal` is aborted. */
type FetchDocument = (address: string, signal: AbortSignal) => Promise<unknown>;

interface RemoteKeysOptions {
  readonly issuer: Pick<IssuerSettings, "issuer" | "jwks">;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetchDocument?: FetchDocument | undefined;
}

/** The keys of an OpenID Connect provider: cached, renewed in the background, and fetched on demand
 *  for an unknown key. While the provider does not answer, the known keys stay valid. */
export class RemoteKeys implements KeySource {
  readonly #options: RemoteKeysOptions;
  readonly #keys = new KeySet();
  /** Time of the last successful fetch. */
  #fetchedAt: Ticks | undefined;
  /** Time at which the last fetch began. */
  #askedAt: Ticks | undefined;
  /** The fetch in progress. */
  #running: Promise<void> | undefined;
  #cancelRenewal = (): void => {};
  readonly #closing = new AbortController();

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    void this.refresh();
  }

  find(id: string | undefined): VerificationKey | undefined {
    return this.#isStale() ? undefined : this.#keys.find(id);
  }

  has(key: VerificationKey): boolean {
    return !this.#isStale() && this.#keys.has(key);
  }

  refresh(): Promise<void> {
    const now = this.#options.clock.monotonic();
    if (this.#running !== undefined) return this.#running;
    const isEarly = this.#askedAt !== undefined && now < this.#askedAt + unknownKeyPause;
    if (isEarly || this.#isClosed) return Promise.resolve();
    this.#askedAt = now;
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined;
      this.#renewLater();
    });
    return this.#running;
  }

  /** Aborts a fetch in progress: an issuer that does not answer must not delay the server's
   *  stop. */
  close(): void {
    this.#closing.abort();
    this.#cancelRenewal();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #renewLater(): void {
    this.#cancelRenewal();
    if (this.#isClosed) return;
    const renew = (): void => void this.refresh();
    this.#cancelRenewal = this.#options.clock.after(renewMilliseconds, renew);
  }

  #isStale(): boolean {
    const now = this.#options.clock.monotonic();
    return this.#fetchedAt === undefined || now > this.#fetchedAt + lifeTicks;
  }

  async #fetch(): Promise<void> {
    const { issuer, clock, log, fetchDocument = fetchJson } = this.#options;
    const read = (address: string): Promise<unknown> =>
      fetchDocument(address, this.#closing.signal);
    try {
      const address = issuer.jwks ?? (await discover(issuer.issuer, read));
      this.#keys.replace(await importKeySet(await read(address)));
      this.#fetchedAt = clock.monotonic();
    } catch (error) {
      if (this.#isClosed) return;
      log.warn({ err: error, issuer: issuer.issuer }, "issuer keys not fetched; keeping old ones");
    }
  }
}

/** Finds the address of the key set in the issuer's OpenID Connect configuration. */
async function discover(
  issuer: string,
  read: (address: string) => Promise<unknown>,
): Promise<string> {
  const base = issuer.endsWith("/") ? issuer.slice(0, -1) : issuer;
  const found = await read(`${base}/.well-known/openid-configuration`);
  const isObject = typeof found === "object" && found !== null;
  // The issuer must be the requested one, as OpenID Connect Discovery 4.3 requires: the document
  // could describe another issuer.
  const named = isObject && "issuer" in found ? found.issuer : issuer;
  if (named !== issuer) throw new Error(`the configuration of ${issuer} is of another issuer`);
  const address = isObject && "jwks_uri" in found ? found.jwks_uri : undefined;
  if (typeof address !== "string" || !URL.canParse(address)) {
    throw new Error(`the configuration of ${issuer} names no jwks_uri`);
  }
  if (!isProtected(new URL(address))) throw new Error(`jwks_uri of ${issuer} is not https`);
  return address;
}

/** Fetches a document of a configured issuer, whose address is trusted. Redirections are not
 *  followed, because they could lead to other addresses. */
async function fetchJson(address: string, closing: AbortSignal): Promise<unknown> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(fetchMillisecondsMax)]);
  const response = await fetch(address, { redirect: "error", signal });
  if (!response.ok || response.body === null) {
    throw new Error(`${address} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > documentBytesMax) throw new Error(`${address} sent over ${documentBytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

/** An issuer whose tokens are accepted, and the keys of that issuer. */
interface TrustedIssuer extends Pick<IssuerSettings, "audiences" | "accounts" | "claims"> {
  readonly keys: KeySource;
  /** The present groups of a principal of the issuer; undefined if the principal does not exist any
   *  more. Only the local issuer knows the groups: for other issuers, the groups in the token
   *  count. */
  readonly groupsOf?: ((objectId: string) => readonly string[] | undefined) | undefined;
}

/** The token service of this server (`admin/identity`), for configured principals. */
export interface LocalIssuer {
  readonly keys: KeySource;
  /** Whether this is the `iss` of one of its tokens. The address of the server may change. */
  isIssuer(issuer: string): boolean;
}

interface TrustedIssuersOptions {
  readonly identity: () => IdentitySettings;
  readonly local: LocalIssuer | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetchDocument?: FetchDocument | undefined;
}

/** The issuers of the current configuration. Issuers that a reload does not change keep their
 *  keys. */
export class TrustedIssuers {
  readonly #options: TrustedIssuersOptions;
  readonly #localIssuer: TrustedIssuer | undefined;
  #settings: readonly IssuerSettings[] | undefined;
  /** The configuration that `#isConfigured` and `#groups` were derived from. */
  #identity: IdentitySettings | undefined;
  #isConfigured = false;
  /** Groups of the local principals by object id. */
  #groups: ReadonlyMap<string, readonly string[]> = new Map();
  #byName = new Map<string, TrustedIssuer & { readonly source: string }>();

  constructor(options: TrustedIssuersOptions) {
    this.#options = options;
    this.#localIssuer = options.local && {
      keys: options.local.keys,
      audiences: [],
      accounts: undefined,
      claims: defaultClaims,
      groupsOf: (objectId) => {
        this.#readIdentity();
        return this.#groups.get(objectId);
      },
    };
    this.#update();
  }

  /** Whether issuers or principals are configured. Then tokens are verified even without
   *  `--oauth`. */
  get isConfigured(): boolean {
    this.#readIdentity();
    return this.#isConfigured;
  }

  /** The issuer with this `iss`; undefined if it is not trusted. */
  find(issuer: string): TrustedIssuer | undefined {
    this.#update();
    // Configured issuers take precedence: the local issuer is recognised by the end of its name,
    // which those of Entra ID have, too.
    const configured = this.#byName.get(issuer);
    if (configured !== undefined) return configured;
    return this.#options.local?.isIssuer(issuer) === true ? this.#localIssuer : undefined;
  }

  /** Whether the issuer with this name is still configured unchanged, so that cached verdicts about
   *  its tokens remain valid. */
  isTrusted(issuer: TrustedIssuer, name: string): boolean {
    this.#update();
    return issuer === this.#localIssuer || this.#byName.get(name) === issuer;
  }

  close(): void {
    for (const { keys } of this.#byName.values()) keys.close();
    this.#localIssuer?.keys.close();
  }

  /** Derives the fields that depend on the configuration, once per loaded configuration. */
  #readIdentity(): void {
    const identity = this.#options.identity();
    if (identity === this.#identity) return;
    const { issuers, principals } = identity;
    this.#isConfigured =
      issuers.length > 0 || principals.some((each) => each !== developerPrincipal);
    this.#groups = new Map(principals.map(({ objectId, groups }) => [objectId, groups]));
    this.#identity = identity;
  }

  /** Applies a reloaded configuration. Costs one comparison if nothing was reloaded. */
  #update(): void {
    const { identity, clock, log, fetchDocument } = this.#options;
    const { issuers } = identity();
    if (issuers === this.#settings) return;
    this.#settings = issuers;
    const previous = this.#byName;
    this.#byName = new Map();
    for (const settings of issuers) {
      const source = JSON.stringify(settings);
      const known = previous.get(settings.issuer);
      if (known?.source === source) {
        previous.delete(settings.issuer);
        this.#byName.set(settings.issuer, known);
        continue;
      }
      const keys = new RemoteKeys({ issuer: settings, clock, log, fetchDocument });
      const { audiences, accounts, claims } = settings;
      this.#byName.set(settings.issuer, { keys, audiences, accounts, claims, source });
    }
    for (const { keys } of previous.values()) keys.close();
  }
}

/** The result of verifying a token: its claims, or the reason for its rejection. Lifetime, audience
 *  and account are not part of it: they are checked at each use. */
export type TokenVerdict = VerifiedToken | { readonly refusal: string };

/** The claims of a token whose signature was verified, and the key that signed it. */
export interface VerifiedToken {
  readonly refusal?: undefined;
  readonly issuer: TrustedIssuer;
  /** The claim `iss` of the token. */
  readonly issuerName: string;
  readonly key: VerificationKey;
  readonly objectId: string;
  readonly tenantId: string;
  readonly groups: readonly string[];
  readonly audiences: readonly string[];
  /** The claim `nbf`, in Unix seconds. */
  readonly notBefore: number | undefined;
  /** The claim `exp`, in Unix seconds. */
  readonly expires: number;
}

/** Limit of this server for cached tokens and their verdicts: about 13,000 tokens of 1.5 KiB. */
const cacheBytesMax = 32 * 1024 * 1024;
/** Estimated size of a cached verdict without its token, for `cacheBytesMax`. */
const verdictBytes = 1024;
/** The last characters of a token are the end of its signature: 252 bits, which no two verified
 *  tokens share. */
const signatureEndUnits = 42;
/** Longest accepted token, in UTF-16 code units. Tokens of Entra ID are shorter. */
const tokenUnitsMax = 16 * 1024;
/** Longest claim, in UTF-16 code units; ids and names are shorter. Longer ones are ignored. */
const textUnitsMax = 256;
/** Most groups, and audiences, of a token; Entra ID lists at most 200. Others are ignored. */
const groupsMax = 256;

interface CachedToken {
  readonly token: string;
  readonly verdict: VerifiedToken;
}

/** Verifies the signatures of bearer tokens. Verified tokens are cached for all connections, and
 *  found by the end of their signature: hashing a whole token would take longer than comparing it.
 *  A token with the same end and other claims is not equal to the cached one, and is verified. */
export class TokenVerifier {
  readonly #issuers: TrustedIssuers;
  readonly #verified = new RecentMap<CachedToken>(cacheBytesMax, {
    weigh: (_, { token }) => token.length + verdictBytes,
  });

  constructor(issuers: TrustedIssuers) {
    this.#issuers = issuers;
  }

  /** Whether the configuration requires verified tokens, with or without `--oauth`. */
  get isConfigured(): boolean {
    return this.#issuers.isConfigured;
  }

  /** Verifies a token. Returns a promise only at its first use, when it is not cached. */
  verify(token: string): Awaitable<TokenVerdict> {
    if (token.length > tokenUnitsMax) return { refusal: "The token is too long." };
    const known = this.#verified.get(token.slice(-signatureEndUnits));
    if (known?.token === token && this.isTrusted(known.verdict)) return known.verdict;
    return this.#verifyNew(token);
  }

  close(): void {
    this.#issuers.close();
  }

  /** Whether the issuer and the key of a verified token are still trusted. If not, its cached
   *  verdict must not be used. */
  isTrusted({ issuer, issuerName, key }: VerifiedToken): boolean {
    return issuer.keys.has(key) && this.#issuers.isTrusted(issuer, issuerName);
  }

  async #verifyNew(token: string): Promise<TokenVerdict> {
    if (!isTokenForm(token)) return { refusal: "Malformed token." };
    const [head = "", payload = ""] = token.split(".", 2);
    const header = parseTokenPart(head);
    const claims = parseTokenPart(payload);
    if (header === undefined || claims === undefined) return { refusal: "Malformed token." };
    // These headers change what the signature means. No issuer of access tokens sends them.
    if (header.has("crit") || header.has("b64")) return { refusal: "Malformed token." };
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

/** The key with which the token claims to be signed; undefined if the issuer has no key of this id.
 *  If the id is unknown, fetches the keys of the issuer again, because the issuer may have replaced
 *  them. */
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
