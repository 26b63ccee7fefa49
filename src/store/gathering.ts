import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import { AverageDuration } from "./average-duration.ts";
import type { CommitBatch } from "./commit-batch.ts";

/** A commit waits for other processes at most half as long as commits take on average: from 1 ms,
 *  the shortest timer, to 10 ms. */
const waitShare = 0.5;
const waitMillisecondsMax = 10;
/** Faster commits do not wait: a half-empty commit costs little. */
const waitedTicksMin = Number(ticksPerMillisecond) / 2;

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
    const { ticks } = this.#commit;
    if (ticks < waitedTicksMin || this.#isComplete(queue)) return;
    const half = Math.round((ticks * waitShare) / Number(ticksPerMillisecond));
    const milliseconds = Math.min(Math.max(1, half), waitMillisecondsMax);
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
