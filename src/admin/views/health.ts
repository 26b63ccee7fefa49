import { formatIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Sizes, ViewContext } from "../admin-context.ts";
import { json, type AdminResponse } from "../admin-response.ts";
import { oneOf, optional } from "../inputs.ts";
import { countOf, type CheckedRequest } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import type { FigureSample } from "./figures.ts";
import { everySecondsValues } from "./health-history.ts";
import { between, secondsBetween } from "./rates.ts";
import { listExtents } from "../../content/extents/extent-table.ts";
import type { Store } from "../../store/store.ts";

/** The routes of the page "Health" of the explorer: the bytes of the content store that are
 *  referenced, and the rates of requests. */

/** Bytes of the content store that records refer to, and those that compaction could free. */
interface ContentUse {
  readonly liveBytes: number;
  readonly reclaimableBytes: number;
}

const extentsPerPage = 1000;
/** Most pages of extents that are read: enough for some hundred terabytes. */
const pagesMax = 1000;

/** Totals over all extents. `liveBytes` counts a byte once per reference, so it may be too high,
 *  and `reclaimableBytes` (sealed minus live) too low. */
function contentUse(store: Store): Promise<ContentUse> {
  return store.snapshot(async (view) => {
    let liveBytes = 0;
    let reclaimableBytes = 0;
    let after = 0n;
    for (let page = 0; page < pagesMax; page += 1) {
      const states = await listExtents(view, after, extentsPerPage);
      for (const { extent, record, liveBytes: live } of states) {
        liveBytes += Number(live);
        const unused = (record.sealedBytes ?? 0) - Number(live);
        if (unused > 0) reclaimableBytes += unused;
        after = extent;
      }
      if (states.length < extentsPerPage) break;
    }
    return { liveBytes, reclaimableBytes };
  });
}

/** Shortest interval of a rate. Requests within this time after another get the same rates. */
const intervalTicksMin = (ticksPerSecond * 9n) / 10n;
/** How long a sum of the stored bytes is reused, because its cost grows with the number of
 *  extents. */
const useTicksMin = 10n * ticksPerSecond;

const query = { every: optional(oneOf(everySecondsValues)) };

/** Routes of the health page. Only the admin token permits them, because their figures are sums
 *  over all accounts: with the key of one account, a caller must not see the load of other
 *  accounts. */
export const healthRoutes: readonly Route[] = [
  declareRoute("GET /admin/v1/health", "server", showHealth),
  declareRoute("GET /admin/v1/health/history", "server", showHistory, { query }),
];

async function showHealth({ context }: CheckedRequest): Promise<AdminResponse> {
  return json(await context.health.measure());
}

function showHistory({ context, query: given }: CheckedRequest): AdminResponse {
  return json(context.history.render(countOf(given, "every", Number(everySecondsValues[0]))));
}

interface TimedSample {
  readonly at: Ticks;
  readonly sample: FigureSample;
}

/** Computes the rates of the health page from the counters at two consecutive requests for it:
 *  nothing is sampled in between. */
export class Health {
  readonly #context: ViewContext;
  readonly #startedAt: Ticks;
  #before: Promise<TimedSample>;
  #latest: Promise<TimedSample>;
  #use: { readonly at: Ticks; readonly use: Promise<Use> } | undefined;

  constructor(context: ViewContext) {
    this.#context = context;
    this.#startedAt = context.clock.monotonic();
    this.#latest = this.#now();
    this.#before = this.#latest;
  }

  async measure() {
    const now = await this.#now();
    const latest = this.#latest;
    const elapsed = now.at - (await latest).at;
    // A concurrent request that began a new interval during the await has changed `#latest`.
    if (elapsed >= intervalTicksMin && this.#latest === latest) {
      this.#before = latest;
      this.#latest = Promise.resolve(now);
    }
    const { clock } = this.#context;
    const { storeBytes, contentBytes, ...use } = await this.#contentUse(now.at);
    const before = await this.#before;
    // The rates are those of the last `over` seconds.
    const over = secondsBetween(before.at, now.at);
    const figures = between(before.sample, now.sample, over);
    const { workers } = now.sample;
    return {
      now: formatIso(clock.wall()),
      uptimeSeconds: secondsBetween(this.#startedAt, now.at),
      overSeconds: over,
      ...figures,
      workers,
      store: { ...figures.store, bytes: storeBytes },
      content: { ...figures.content, bytes: contentBytes, ...use },
    };
  }

  /** Bytes on disk and in use, at most ten seconds old. */
  stored(): Promise<Use> {
    return this.#contentUse(this.#context.clock.monotonic());
  }

  #contentUse(now: Ticks): Promise<Use> {
    if (this.#use === undefined || now - this.#use.at >= useTicksMin) {
      const use = measureUse(this.#context);
      this.#use = { at: now, use };
      // A failed calculation is not cached.
      use.catch(() => (this.#use = undefined));
    }
    return this.#use.use;
  }

  async #now(): Promise<TimedSample> {
    const { clock, figures } = this.#context;
    const sample = await figures.sample();
    return { at: clock.monotonic(), sample };
  }
}

/** What the health page shows: the response of `/admin/v1/health`. */
export type HealthView = Awaited<ReturnType<Health["measure"]>>;

type Use = Sizes & ContentUse;

async function measureUse({ sizes, runtime }: ViewContext): Promise<Use> {
  const [onDisk, inUse] = await Promise.all([sizes(), contentUse(runtime.store)]);
  return { ...onDisk, ...inUse };
}
