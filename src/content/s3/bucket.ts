import { Agent as PlainAgent, request as plainRequest, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { Span } from "../../base/span.ts";
import { formatIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { StoreUnavailable } from "../../store/store.ts";
import {
  canonicalQuery,
  encodeStrictly,
  sha256Hex,
  signedHeaders,
  type Credentials,
} from "./signature.ts";

/** A small client of S3 for `content/s3/`: signs and sends requests, retries temporary failures,
 *  parses `s3://…` locations. The official library would be a large dependency for GET, PUT and
 *  DELETE. */

interface BucketOptions extends BucketLocation {
  readonly credentials: Credentials;
  /** Fetches other credentials when these were rejected, for example after a session expired. */
  readonly renewCredentials?: (() => Promise<Credentials>) | undefined;
  readonly clock: Clock;
  /** Sends requests in a simulated network. Undefined: the network of this machine. */
  readonly transport?: Transport | undefined;
}

/** A signed request, as a `Transport` sends it. */
interface SentRequest {
  readonly method: BucketRequest["method"];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** How long the service may be silent, in milliseconds, before the try fails. */
  readonly timeout: number;
}

/** Sends requests: over HTTP, or in a simulated network. Rejects without a complete response. */
export interface Transport {
  send(request: SentRequest): Promise<BucketResponse>;
  close(): void;
}

interface BucketRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  /** Key of the object; `undefined` for the bucket itself, which is listed. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

interface BucketResponse {
  readonly status: number;
  readonly body: Buffer;
}

/** More requests wait for a connection: reads, uploads and read-aheads share them. */
const connectionsMax = 64;
const idleMillisecondsMax = 10_000;
/** A health check must answer before its caller gives up. */
const pingMilliseconds = 3_000;
/** Limit of the tries per request, with pauses from `pauseMillisecondsFirst` to
 *  `pauseMillisecondsMax`: S3 asks clients to slow down with status 503. */
const triesMax = 10;
/** No further try begins after this time: a client waits for the content, and gets 503 instead. */
const sendTicksMax: Ticks = 20n * ticksPerSecond;
const pauseMillisecondsFirst = 50;
const pauseMillisecondsMax = 1_000;
/** Limit of a response body: more than a part with its checksums, or a page of a listing, has. */
const responseBytesMax = 16 * 1024 * 1024;
/** Statuses after which new credentials are fetched once: services report expired ones in different
 *  ways. */
const credentialErrors: ReadonlySet<number> = new Set([400, 401, 403]);
const emptyDigest = sha256Hex("");

/** A bucket of an S3-compatible service, with path-style addresses. All requests are idempotent, so
 *  that each can be retried. */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #transport: Transport;
  readonly #host: string;
  #credentials: Credentials;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#credentials = options.credentials;
    const { protocol, host } = new URL(options.endpoint);
    this.#host = host;
    this.#transport = options.transport ?? httpTransport(protocol === "https:");
  }

  /** Sends a request until its status is one of `expected`. `spans` are those of the traced
   *  requests for which it is sent. */
  async send(
    request: BucketRequest,
    expected: readonly number[],
    spans?: Iterable<Span>,
  ): Promise<BucketResponse> {
    if (spans === undefined) return this.#send(request, expected);
    const { method, key } = request;
    const attributes = { "http.request.method": method, "aws.s3.key": key };
    const parts = [...spans].map((span) => span.begin(`S3 ${method}`, attributes));
    try {
      const response = await this.#send(request, expected);
      const status = { "http.response.status_code": response.status };
      for (const part of parts) part.set(status);
      for (const part of parts) part.end();
      return response;
    } catch (error) {
      for (const part of parts) part.end(error);
      throw error;
    }
  }

  async #send(request: BucketRequest, expected: readonly number[]): Promise<BucketResponse> {
    const { clock } = this.#options;
    const startedAt = clock.monotonic();
    let pause = pauseMillisecondsFirst;
    let problem: unknown;
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const response = await this.#sendOnce(request, idleMillisecondsMax);
        if (expected.includes(response.status)) return response;
        problem = new Error(`status ${response.status} ${response.body.toString("utf8", 0, 300)}`);
        const isTransient = response.status >= 500 || response.status === 429;
        const isRenewed = credentialErrors.has(response.status) && (await this.#renew());
        if (!isTransient && !isRenewed) break;
      } catch (error) {
        problem = error;
      }
      if (tries === triesMax - 1 || clock.monotonic() - startedAt > sendTicksMax) break;
      await new Promise<void>((resolve) => clock.after(pause, resolve));
      pause = Math.min(2 * pause, pauseMillisecondsMax);
    }
    const reason = problem instanceof Error ? problem.message : String(problem);
    const operation = `${request.method} ${request.key ?? this.#options.bucket}`;
    throw new StoreUnavailable(`${operation}: ${reason}`, { cause: problem });
  }

  /** Rejects if the service is unreachable; one try with a short timeout, for the health check. */
  async ping(): Promise<void> {
    const { bucket, prefix } = this.#options;
    const query = { "list-type": "2", "max-keys": "1", prefix };
    const { status } = await this.#sendOnce({ method: "GET", query }, pingMilliseconds);
    if (status !== 200) throw new StoreUnavailable(`bucket ${bucket}: status ${status}`);
  }

  close(): void {
    this.#transport.close();
  }

  /** Fetches new credentials; returns whether they differ. */
  async #renew(): Promise<boolean> {
    const renewed = await this.#options.renewCredentials?.();
    const before = this.#credentials;
    const isOther =
      renewed !== undefined &&
      (renewed.secretAccessKey !== before.secretAccessKey ||
        renewed.sessionToken !== before.sessionToken);
    if (isOther) this.#credentials = renewed;
    return isOther;
  }

  #sendOnce(request: BucketRequest, timeout: number): Promise<BucketResponse> {
    const { bucket, prefix, region, clock } = this.#options;
    const credentials = this.#credentials;
    const { method, key, query = {}, body } = request;
    const object =
      key === undefined ? "" : `/${(prefix + key).split("/").map(encodeStrictly).join("/")}`;
    const path = `/${encodeStrictly(bucket)}${object}`;
    const bodyDigest = body === undefined ? emptyDigest : sha256Hex(body);
    const unsigned = { method, host: this.#host, path, query, bodyDigest };
    const headers = signedHeaders(
      { ...unsigned, headers: request.headers ?? {} },
      { credentials, region, amzDate: amzDateOf(clock.wall()) },
    );
    const search = canonicalQuery(query);
    const url = `${this.#options.endpoint}${path}${search === "" ? "" : `?${search}`}`;
    const length = { "content-length": String(body?.length ?? 0) };
    const sent = { method, url, headers: { ...headers, ...length }, body, timeout };
    return this.#transport.send(sent);
  }
}

function httpTransport(isSecure: boolean): Transport {
  const settings = { keepAlive: true, maxSockets: connectionsMax, timeout: idleMillisecondsMax };
  const agent = isSecure ? new SecureAgent(settings) : new PlainAgent(settings);
  const open = isSecure ? secureRequest : plainRequest;
  return {
    send: ({ method, url, headers, body, timeout }) =>
      new Promise((resolve, reject) => {
        const sent = open(url, { method, agent, headers, timeout });
        sent.on("timeout", () => sent.destroy(new Error("the S3 service timed out")));
        sent.on("error", reject);
        sent.on("response", (response) => void collect(response).then(resolve, reject));
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}

async function collect(response: IncomingMessage): Promise<BucketResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > responseBytesMax) throw new Error("the response is too long");
  }
  if (!response.complete) throw new Error("the response was cut off");
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks) };
}

/** Formats a time as `20130524T000000Z`, as a signature requires. */
export function amzDateOf(ticks: Ticks): string {
  const [day = "", time = ""] = formatIso(ticks).split(/[T.]/);
  return `${day.replaceAll("-", "")}T${time.replaceAll(":", "")}Z`;
}

/** A bucket and a prefix, parsed from `s3://bucket/prefix?endpoint=…&region=…`. */
interface BucketLocation {
  readonly bucket: string;
  /** Prefix of the names of all objects. Empty, or ends in a slash. */
  readonly prefix: string;
  /** `http://host:port` or `https://host`, without a path. */
  readonly endpoint: string;
  readonly region: string;
  /** Limit of the cache of recently read blocks; 0 for none. */
  readonly cacheBytesMax: number;
}

/** Values from the environment, for parameters that the location omits. */
export interface BucketDefaults {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
}

const regionDefault = "us-east-1";
const cacheMegabytesDefault = 64;
const cacheMegabytesMax = 65_536;
const bytesPerMegabyte = 1024 * 1024;

export function parseBucketLocation(
  location: string,
  defaults: BucketDefaults = {},
): BucketLocation {
  const url = new URL(location);
  if (url.protocol !== "s3:" || url.hostname === "") {
    throw new Error("must have the form s3://bucket/prefix?endpoint=https://…");
  }
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const region = parameter("region") ?? defaults.region ?? regionDefault;
  const amazon = `https://s3.${region}.amazonaws.com`;
  const endpoint = parameter("endpoint") ?? defaults.endpoint ?? amazon;
  const cacheBytesMax = bytesPerMegabyte * parseMegabytes(parameter("cache"));
  const path = url.pathname.replaceAll(/^\/+|\/+$/g, "");
  const prefix = path === "" ? "" : `${path}/`;
  const { origin } = new URL(endpoint);
  return { bucket: url.hostname, prefix, endpoint: origin, region, cacheBytesMax };
}

function parseMegabytes(text: string | undefined): number {
  if (text === undefined) return cacheMegabytesDefault;
  const megabytes = Number(text);
  if (/^\d+$/.test(text) && megabytes <= cacheMegabytesMax) return megabytes;
  throw new Error(`cache: must be 0 to ${cacheMegabytesMax} (megabytes), got "${text}"`);
}
