import type { Clock, Log } from "../base/world.ts";
import { Scrubber, type ScrubberOptions } from "../content/audit/scrubber.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Background } from "./background.ts";

export interface ScrubOptions extends ScrubberOptions {
  readonly bytesPerSecond: number;
  readonly isLeader: () => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter?: Meter | undefined;
}

/** Pause after all content was verified, and of processes that are not the leader. */
const passPauseMilliseconds = 3_600_000;
const followerPauseMilliseconds = 5000;
const pauseMillisecondsMin = 100;

/** Verifies all content again and again, on average at the given rate. */
export function scrubInBackground(options: ScrubOptions): Background {
  const { clock, log, meter, isLeader, bytesPerSecond } = options;
  const scrubber = new Scrubber(options);
  let isStopped = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const pass = { bytes: 0, problems: 0 };
  const schedule = (milliseconds: number): void => {
    if (isStopped) return;
    cancel = clock.after(milliseconds, () => {
      running = turn();
    });
  };
  const turn = async (): Promise<void> => {
    try {
      if (!(await isLeader())) return schedule(followerPauseMilliseconds);
      const { bytes, problems, isPassDone } = await scrubber.step();
      meter?.scrubbed?.(bytes, problems);
      pass.bytes += bytes;
      pass.problems += problems;
      if (!isPassDone) {
        const milliseconds = (1000 * bytes) / bytesPerSecond;
        return schedule(Math.max(pauseMillisecondsMin, milliseconds));
      }
      log.info({ ...pass }, "all content compared with its checksums");
      Object.assign(pass, { bytes: 0, problems: 0 });
      schedule(passPauseMilliseconds);
    } catch (error) {
      log.warn({ err: error }, "verification of content failed; continuing in 5 s");
      schedule(followerPauseMilliseconds);
    }
  };
  schedule(pauseMillisecondsMin);
  return {
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
