import { Agent as PlainAgent, request as plainRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";

import { formatIso } from "../../base/dates.ts";
import { ticksPerSecond } from "../../base/ticks.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { StoreUnavailable } from "../../store/store.ts";
import type { BucketLocation } from "./bucket-location.ts";
import { canonicalQuery, encodeStrictly, sha256Hex, signedHeaders } from "./signature.ts";
import type { Credentials } from "./signature.ts";

export interface BucketOptions extends BucketLocation {
  readonly credentials: Credentials;
  /** Asked when the ones there are were refused: those of a session end, and others come. */
  readonly renewCredentials?: (() => Promise<Credentials>) | undefined;
  readonly clock: Clock;
}

export interface BucketRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  /** The object; none for the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface BucketAnswer {
  readonly status: number;
  readonly body: Buffer;
}

const connectionsMax = 64;
const silenceMilliseconds = 10_000;
const pingMilliseconds = 3_000;
const triesMax = 10;
/** No caller waits longer for a store that is away, however it fails. */
const patience: Ticks = 20n * ticksPerSecond;
const pauseMillisecondsFirst = 50;
const pauseMillisecondsMax = 1_000;
/** Longer than a part with its checksums, and than a page of a listing. */
const answerBytesMax = 16 * 1024 * 1024;
const refusals: ReadonlySet<number> = new Set([400, 401, 403]);
const emptyDigest = sha256Hex("");

/** A bucket of an S3-compatible store, addressed by path. What fails in passing is tried again:
 *  all that is asked for here has the same effect twice as once. */
export class Bucket {
  readonly #options: BucketOptions;
  readonly #agent: PlainAgent | SecureAgent;
  readonly #isSecure: boolean;
  readonly #host: string;
  #credentials: Credentials;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#credentials = options.credentials;
    const { protocol, host } = new URL(options.endpoint);
    this.#isSecure = protocol === "https:";
    this.#host = host;
    const settings = { keepAlive: true, maxSockets: connectionsMax, timeout: silenceMilliseconds };
    this.#agent = this.#isSecure ? new SecureAgent(settings) : new PlainAgent(settings);
  }

  async send(request: BucketRequest, expected: readonly number[]): Promise<BucketAnswer> {
    const { clock } = this.#options;
    const began = clock.monotonic();
    let pause = pauseMillisecondsFirst;
    let problem: unknown;
    for (let tries = 0; tries < triesMax; tries += 1) {
      try {
        const answer = await this.#sendOnce(request, silenceMilliseconds);
        if (expected.includes(answer.status)) return answer;
        problem = new Error(`status ${answer.status} ${answer.body.toString("utf8", 0, 300)}`);
        const isPassing = answer.status >= 500 || answer.status === 429;
        const isRenewed = refusals.has(answer.status) && (await this.#renew());
        if (!isPassing && !isRenewed) break;
      } catch (error) {
        problem = error;
      }
      if (tries === triesMax - 1 || clock.monotonic() - began > patience) break;
      await new Promise<void>((resolve) => clock.after(pause, resolve));
      pause = Math.min(2 * pause, pauseMillisecondsMax);
    }
    const reason = problem instanceof Error ? problem.message : String(problem);
    const what = `${request.method} ${request.key ?? this.#options.bucket}`;
    throw new StoreUnavailable(`${what}: ${reason}`, { cause: problem });
  }

  /** Whether the store answers at all, asked once and not for long. */
  async ping(): Promise<void> {
    const { bucket, prefix } = this.#options;
    const query = { "list-type": "2", "max-keys": "1", prefix };
    const { status } = await this.#sendOnce({ method: "GET", query }, pingMilliseconds);
    if (status !== 200) throw new StoreUnavailable(`bucket ${bucket}: status ${status}`);
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Whether there are others now. */
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

  #sendOnce(request: BucketRequest, timeout: number): Promise<BucketAnswer> {
    const { bucket, prefix, region, clock } = this.#options;
    const credentials = this.#credentials;
    const { method, key, query = {}, body } = request;
    const object = key === undefined ? "" : `/${encodePath(prefix + key)}`;
    const path = `/${encodeStrictly(bucket)}${object}`;
    const bodyDigest = body === undefined ? emptyDigest : sha256Hex(body);
    const unsigned = { method, host: this.#host, path, query, bodyDigest };
    const headers = signedHeaders(
      { ...unsigned, headers: request.headers ?? {} },
      { credentials, region, moment: momentOf(clock.wall()) },
    );
    const search = canonicalQuery(query);
    const url = `${this.#options.endpoint}${path}${search === "" ? "" : `?${search}`}`;
    const length = { "content-length": String(body?.length ?? 0) };
    const send = this.#isSecure ? secureRequest : plainRequest;
    return new Promise((resolve, reject) => {
      const options = { method, agent: this.#agent, headers: { ...headers, ...length } };
      const sent = send(url, { ...options, timeout });
      sent.on("timeout", () => sent.destroy(new Error("the bucket's store does not answer")));
      sent.on("error", reject);
      sent.on("response", (answer) => void collect(answer).then(resolve, reject));
      sent.end(body);
    });
  }
}

async function collect(answer: IncomingMessage): Promise<BucketAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > answerBytesMax) throw new Error("the answer is too long");
  }
  if (!answer.complete) throw new Error("the answer broke off");
  return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks) };
}

function encodePath(key: string): string {
  return key.split("/").map(encodeStrictly).join("/");
}

/** As `20130524T000000Z`. */
export function momentOf(ticks: Ticks): string {
  const [day = "", time = ""] = formatIso(ticks).split(/[T.]/);
  return `${day.replaceAll("-", "")}T${time.replaceAll(":", "")}Z`;
}
