import type { Clock, Log } from "../base/world.ts";

/** Runs the background tasks of a server: garbage collection, compaction, scrub and others.
 *  `data-stores.ts` starts most of them. */

/** A task that is repeated in rounds while the server runs. */
interface BackgroundTask {
  readonly name: string;
  /** Does a bounded amount of work; resolves to whether there is more, or to the milliseconds until
   *  the next round. */
  readonly round: () => Promise<boolean | number>;
}

/** Running background tasks, as the server stops them. */
export interface Background {
  /** Resolves when no round is running and none will start. */
  stop(): Promise<void>;
}

/** Pause after a round that found nothing to do: long enough to cost nothing. */
const idleMilliseconds = 5_000;
/** Pause between rounds while there is more work, so that requests are served first. */
const pauseMilliseconds = 10;

interface BackgroundOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Time until the first round; default 5 s. */
  readonly firstMilliseconds?: number;
}

/** Runs tasks in rounds, every 5 s if there is little to do. Logs and repeats a failed round. */
export function runInBackground(
  tasks: readonly BackgroundTask[],
  { clock, log, firstMilliseconds = idleMilliseconds }: BackgroundOptions,
): Background {
  let stopped = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const schedule = (milliseconds: number): void => {
    if (stopped) return;
    cancel = clock.after(milliseconds, () => {
      running = turn();
    });
  };
  const turn = async (): Promise<void> => {
    const pauses: number[] = [];
    for (const { name, round } of tasks) {
      try {
        const next = await round();
        pauses.push(next === true ? pauseMilliseconds : next || idleMilliseconds);
      } catch (error) {
        log.warn({ err: error, task: name }, "background task failed; retrying in the next round");
        pauses.push(idleMilliseconds);
      }
    }
    schedule(Math.min(...pauses));
  };
  schedule(firstMilliseconds);
  return {
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
