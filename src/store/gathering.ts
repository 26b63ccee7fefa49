import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { AverageDuration } from "./average-duration.ts";
import type { CommitBatch } from "./commit-batch.ts";

/** A commit waits for other processes at most half as long as commits take on average, 10 ms at
 *  most. */
const waitShare = 2;
const waitTicksMax = 10n * ticksPerMillisecond;
/** Bounds the event-loop iterations of a wait that is too short for a timer. */
const waitIterationsMax = 1000;

const ignore = (): void => undefined;

type Queue = readonly { readonly batch: CommitBatch }[];

/** Delays a commit until every process of the previous commit has a batch again. These processes
 *  were answered at the same time, so their next batches arrive within a short time of each other.
 *  Without the delay the first one would be committed alone, the others would wait for its flush,
 *  and the processes would take turns with half-empty commits. */
export class Gathering {
  readonly #clock: Clock;
  #previousOwners: ReadonlySet<number> = new Set();
  readonly #commit: AverageDuration;
  #onArrival = ignore;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#commit = new AverageDuration(clock);
  }

  /** Resolves when the queue, which grows meanwhile, has a batch of each such process, or when it
   *  is too late for them. */
  async complete(queue: Queue): Promise<void> {
    if (this.#isComplete(queue)) return;
    const half = BigInt(Math.round(this.#commit.ticks / waitShare));
    const ticks = half < waitTicksMax ? half : waitTicksMax;
    if (ticks < ticksPerMillisecond) await this.#iterate(queue, ticks);
    else await this.#waitForArrival(queue, Number(ticks / ticksPerMillisecond));
  }

  /** A batch was added to the queue. */
  arrived(): void {
    this.#onArrival();
  }

  begin(batches: readonly CommitBatch[]): void {
    this.#previousOwners = ownersOf(batches);
    this.#commit.begin();
  }

  end(): void {
    this.#commit.end();
  }

  async #iterate(queue: Queue, ticks: Ticks): Promise<void> {
    const end = this.#clock.monotonic() + ticks;
    for (let iterations = 0; iterations < waitIterationsMax; iterations += 1) {
      if (this.#clock.monotonic() >= end || this.#isComplete(queue)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #waitForArrival(queue: Queue, milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(milliseconds, resolve);
      this.#onArrival = () => {
        if (!this.#isComplete(queue)) return;
        cancel();
        resolve();
      };
    });
    this.#onArrival = ignore;
  }

  #isComplete(queue: Queue): boolean {
    for (const owner of this.#previousOwners) {
      if (!queue.some(({ batch }) => batch.owner === owner)) return false;
    }
    return true;
  }
}

function ownersOf(batches: readonly CommitBatch[]): ReadonlySet<number> {
  return new Set(batches.map(({ owner }) => owner));
}
