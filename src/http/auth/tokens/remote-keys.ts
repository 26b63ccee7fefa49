import { ticksPerSecond, type Ticks } from "../../../base/ticks.ts";
import type { Clock, Log } from "../../../base/world.ts";
import type { IssuerSettings } from "../../../account/identity.ts";
import { isProtected } from "../../../account/parse-issuers.ts";
import { importKeySet, KeySet, type KeySource, type VerificationKey } from "./verification-keys.ts";

/** Time between two regular fetches of the keys. A key that the issuer has removed is accepted
 *  until the next one. */
const renewMilliseconds = 10 * 60 * 1000;
/** Least time between two fetches: anyone can send a token with an unknown key id, which causes
 *  one. */
const unknownKeyPause: Ticks = 30n * ticksPerSecond;
/** How long fetched keys are used if the issuer no longer answers. */
const lifeTicks: Ticks = 24n * 3600n * ticksPerSecond;
/* Limits of this server for one fetched document. */
const fetchMillisecondsMax = 5000;
const documentBytesMax = 256 * 1024;

/** Fetches a JSON document; rejects if the address does not answer with one, or when `signal` is
 *  aborted. */
export type FetchDocument = (address: string, signal: AbortSignal) => Promise<unknown>;

export interface RemoteKeysOptions {
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

  /** Aborts a fetch in progress: an issuer that does not answer must not delay the end of the
   *  process. */
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
  // As OpenID Connect Discovery 4.3 requires: the document could be that of another issuer.
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
