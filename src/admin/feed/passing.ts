import { formatIso } from "../../core/dates.ts";
import type { Ticks } from "../../core/ticks.ts";
import { Records } from "../../execution/records.ts";
import type { Administered } from "../administered.ts";
import { endedLeases } from "../views/held-leases.ts";
import { queuesOf, turnsBetween } from "../views/messages.ts";
import type { FeedKind } from "./watcher.ts";

export interface Passed {
  readonly kind: FeedKind;
  readonly data: object;
}

const leasesMax = 500;
const messagesPerQueueMax = 200;

/** What happens by time alone: nobody asks for it, and no request tells of it. */
export class Passing {
  readonly #administered: Administered;
  #until: Ticks | undefined;

  constructor(administered: Administered) {
    this.#administered = administered;
  }

  /** Forgets the past: what has ended before now is nobody's news. */
  restart(): void {
    this.#until = undefined;
  }

  /** What has ended since the last look. */
  look(): Promise<readonly Passed[]> {
    const { store, content } = this.#administered.runtime;
    return store.snapshot(async (view) => {
      const from = this.#until;
      this.#until = view.now;
      if (from === undefined) return [];
      const records = new Records(view, content);
      const to = view.now;
      return [...(await leasesEnded(records, from, to)), ...(await returned(records, from, to))];
    });
  }
}

async function leasesEnded(view: Records, from: Ticks, to: Ticks): Promise<readonly Passed[]> {
  const ended = await endedLeases(view, { from, to, limit: leasesMax });
  return ended.map(({ lease, at, ...place }) => ({
    kind: "lease",
    data: {
      at: formatIso(at),
      action: lease.breaksAt === undefined ? "expired" : "broken",
      ...place,
      id: lease.id,
      durationSeconds: lease.durationSeconds,
    },
  }));
}

async function returned(view: Records, from: Ticks, to: Ticks): Promise<readonly Passed[]> {
  const passed: Passed[] = [];
  for await (const { account, queue, id: owner } of queuesOf(view)) {
    const found = await turnsBetween(view, owner, { from, to, limit: messagesPerQueueMax });
    for (const { id, message } of found) {
      const { dequeueCount, visibleAt } = message;
      // One that was put a moment ago, or with a delay, was never taken.
      if (dequeueCount === 0) continue;
      const at = formatIso(visibleAt);
      const data = { at, action: "returned", account, queue, id, dequeueCount };
      passed.push({ kind: "message", data });
    }
  }
  return passed;
}
