import type { Transport } from "../../../src/content/s3/bucket.ts";
import { parseIso } from "../../../src/base/dates.ts";
import { ticksPerSecond } from "../../../src/base/ticks.ts";
import { count, type Conditions, type FaultCounts, type FaultRates } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
import { ticksAt, type SimProcess } from "../sim-process.ts";

type Request = Parameters<Transport["send"]>[0];
type Response = Awaited<ReturnType<Transport["send"]>>;

interface BucketOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly counts: FaultCounts;
  readonly bucketMicroseconds: readonly [number, number];
}

/** By how much a request can be late of which the client has heard nothing. */
const lateMicrosecondsMax = 40_000_000;
/** S3 refuses requests of clients whose clock is more wrong than this. */
const skewTicksMax = 15n * 60n * ticksPerSecond;
const blockBytes = 65_536;
const checksumBytes = 4;
const faults = ["error", "lost request", "lost response", "late request"] as const;

/** A bucket with S3's guarantees: an object is written as a whole or not at all, and every later
 *  read and listing sees it. A request without a response may have an effect, also later. */
export class SimBucket {
  readonly #options: BucketOptions;
  readonly #objects = new Map<string, Buffer>();
  /** Whether all requests fail. */
  isDown = false;

  constructor(options: BucketOptions) {
    this.#options = options;
  }

  /** Changes a stored bit of an extent, whose parts are objects of checksummed blocks. */
  rot(extent: bigint, position: number, bit: number): void {
    const folder = `extents/${extent.toString(16).padStart(16, "0")}/`;
    for (const [key, bytes] of this.#objects) {
      const [from = 0, length = 0] = key
        .slice(folder.length)
        .split("-")
        .map((hex) => parseInt(hex, 16));
      const at = position - from;
      if (!key.startsWith(folder) || at < 0 || at >= length) continue;
      const stored = at + checksumBytes * Math.floor(at / blockBytes);
      bytes[stored] = (bytes[stored] ?? 0) ^ (1 << bit);
      return;
    }
    throw new Error(`extent ${extent} has no byte ${position}`);
  }

  /** The service as one process reaches it; without a process, for a check that takes no time. */
  transportOf(process: SimProcess | undefined, blockedUntil: () => number = () => 0): Transport {
    return {
      send: (request) =>
        process === undefined
          ? Promise.resolve(this.#answer(request))
          : this.#send(request, process, blockedUntil),
      close: () => {},
    };
  }

  #send(request: Request, process: SimProcess, blockedUntil: () => number): Promise<Response> {
    const { scheduler, bucketMicroseconds, conditions, rates, counts } = this.#options;
    const [low, high] = bucketMicroseconds;
    const delay = (): number =>
      scheduler.between(low, high) + Math.max(0, blockedUntil() - scheduler.now);
    const isFault = conditions.hasFaults && scheduler.random.chance(rates.failingBucket);
    const fault = isFault ? scheduler.random.pick(faults) : undefined;
    if (fault !== undefined) count(counts, `bucket: ${fault}`);
    return new Promise((resolve, reject) => {
      const timeout = new Error("the S3 service timed out");
      const cancel = scheduler.schedule(request.timeout * 1000, () => reject(timeout), process);
      const arrive = (run: () => void): void => {
        const settle = (): void => {
          cancel();
          run();
        };
        scheduler.schedule(delay(), settle, process);
      };
      if (fault === "lost request") return arrive(() => reject(new Error("socket hang up")));
      const late = fault === "late request" ? scheduler.random.below(lateMicrosecondsMax) : 0;
      scheduler.schedule(delay() + late, () => {
        if (fault === "error" || this.isDown) return arrive(() => resolve(failure(503)));
        const response = this.#answer(request);
        if (fault === "late request") return;
        if (fault === "lost response") return arrive(() => reject(new Error("socket hang up")));
        arrive(() => resolve(response));
      });
    });
  }

  #answer({ method, url, headers, body }: Request): Response {
    const { pathname, searchParams } = new URL(url);
    const key = decodeURIComponent(pathname.split("/").slice(2).join("/"));
    if (this.#isSkewed(headers["x-amz-date"] ?? "")) return failure(403);
    if (key === "") return this.#list(searchParams);
    if (method === "PUT") {
      this.#objects.set(key, Buffer.from(body ?? []));
      this.#options.conditions.moments.reach("write of content");
      return { status: 200, body: Buffer.alloc(0) };
    }
    if (method === "DELETE") {
      this.#objects.delete(key);
      return { status: 204, body: Buffer.alloc(0) };
    }
    const found = this.#objects.get(key);
    if (found === undefined) return failure(404);
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers["range"] ?? "");
    if (range === null) return { status: 200, body: found };
    return { status: 206, body: found.subarray(Number(range[1]), Number(range[2]) + 1) };
  }

  /** `20240101T000000Z` */
  #isSkewed(date: string): boolean {
    const iso = date.replace(/^(....)(..)(..T..)(..)/, "$1-$2-$3:$4:");
    const skew = (parseIso(iso) ?? 0n) - ticksAt(this.#options.scheduler.now);
    return (skew < 0n ? -skew : skew) > skewTicksMax;
  }

  #list(query: URLSearchParams): Response {
    const [prefix, after] = [query.get("prefix") ?? "", query.get("start-after") ?? ""];
    const isByFolder = query.has("delimiter");
    const names = new Set(
      [...this.#objects.keys()]
        .filter((key) => key.startsWith(prefix))
        .map((key) => {
          const end = isByFolder ? key.indexOf("/", prefix.length) : -1;
          return end < 0 ? key : key.slice(0, end + 1);
        })
        .filter((name) => name > after),
    );
    const page = [...names].toSorted().slice(0, Number(query.get("max-keys") ?? 1000));
    const items = page.map((name) =>
      name.endsWith("/")
        ? `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${name}</Key></Contents>`,
    );
    const text = `<ListBucketResult>${items.join("")}</ListBucketResult>`;
    return { status: 200, body: Buffer.from(text) };
  }
}

function failure(status: number): Response {
  return { status, body: Buffer.from(`<Error><Code>${status}</Code></Error>`) };
}
