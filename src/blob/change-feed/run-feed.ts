import { accounts, readAccounts } from "../../account/account-record.ts";
import { eventLog } from "../../account/event-log.ts";
import { ticksPerMillisecond } from "../../base/ticks.ts";
import type { Clock, Log } from "../../base/world.ts";
import type { Runtime } from "../../operation/work.ts";
import type { Store } from "../../store/store.ts";
import { FeedWriter } from "./feed-writer.ts";

/** The background task that writes the change feeds of all accounts with `FeedWriter`.
 *  `data/data-stores.ts` starts it. */

interface FeedTaskOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether this process is the leader, the only one that writes the feeds. */
  readonly isLeader: () => Promise<boolean>;
}

/** How long events are gathered, to be written in one transaction. The service takes minutes. */
const gatherMilliseconds = 1_000;
/** Interval of rounds without events, which end and delete segments whose time is over. */
const idleMilliseconds = 15_000;
/** After each step the task pauses for this multiple of the step's duration, so that four fifths of
 *  the time are left for requests. The event log keeps the events during a pause. */
const pauseFactor = 4;
const pauseMillisecondsMin = 1;

export class FeedTask {
  readonly #options: FeedTaskOptions;
  readonly #writer: FeedWriter;
  readonly #unwatch: readonly (() => void)[];
  /** Names of the accounts with a change feed; undefined if they must be read again because an
   *  account has changed. */
  #names: readonly string[] | undefined;
  #accountChanges = 0;
  #cancel = (): void => undefined;
  #isGathering = false;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor(options: FeedTaskOptions) {
    this.#options = options;
    this.#writer = new FeedWriter(options.runtime);
    const { store } = options.runtime;
    const isBackground = { isBackground: true };
    this.#unwatch = [
      store.watch(eventLog.prefix([]), () => this.#gather(), isBackground),
      store.watch(
        accounts.prefix([]),
        () => {
          this.#names = undefined;
          this.#accountChanges += 1;
          this.#gather();
        },
        isBackground,
      ),
    ];
    this.#schedule(gatherMilliseconds);
  }

  /** Writes all committed events now, whether or not this process is the leader: for tests. */
  async flush(): Promise<void> {
    for (const name of await this.#feeds()) while (await this.#writer.step(name));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    for (const unwatch of this.#unwatch) unwatch();
    await this.#running;
  }

  #gather(): void {
    if (this.#isGathering || this.#isStopped) return;
    this.#isGathering = true;
    this.#cancel();
    this.#schedule(gatherMilliseconds);
  }

  #schedule(milliseconds: number): void {
    if (this.#isStopped) return;
    this.#cancel = this.#options.clock.after(milliseconds, () => {
      this.#running = this.#running.then(() => this.#round());
    });
  }

  async #round(): Promise<void> {
    const { isLeader, log } = this.#options;
    this.#isGathering = false;
    try {
      if (await isLeader()) await this.#writeAll();
    } catch (error) {
      log.warn({ err: error }, "the change feed was not written; trying again");
    }
    if (!this.#isGathering) this.#schedule(idleMilliseconds);
  }

  async #writeAll(): Promise<void> {
    for (const name of await this.#feeds()) {
      let hasMore = true;
      while (hasMore && !this.#isStopped) hasMore = await this.#step(name);
    }
  }

  async #step(name: string): Promise<boolean> {
    const { clock } = this.#options;
    const start = clock.monotonic();
    const hasMore = await this.#writer.step(name);
    if (!hasMore) return false;
    const taken = Number((clock.monotonic() - start) / ticksPerMillisecond);
    const pause = Math.max(pauseMillisecondsMin, pauseFactor * taken);
    await new Promise<void>((resolve) => clock.after(pause, resolve));
    return true;
  }

  async #feeds(): Promise<readonly string[]> {
    if (this.#names !== undefined) return this.#names;
    const changes = this.#accountChanges;
    const names = await feedAccounts(this.#options.runtime.store);
    if (changes === this.#accountChanges) this.#names = names;
    return names;
  }
}

function feedAccounts(store: Store): Promise<readonly string[]> {
  return store.snapshot(async (view) => {
    const all = [...(await readAccounts(view))];
    return all.flatMap(([name, { events }]) => (events?.changeFeedDays === undefined ? [] : name));
  });
}
