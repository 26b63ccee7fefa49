import type { Clock, Log } from "../base/world.ts";

export interface BackgroundTask {
  readonly name: string;
  /** One bounded round; returns whether there is more to do. */
  readonly round: () => Promise<boolean>;
}

export interface Background {
  /** Resolves when no round is under way and none will follow. */
  stop(): Promise<void>;
}

const restMilliseconds = 5_000;
/** Between rounds with more to do: requests come first. */
const pauseMilliseconds = 10;

/** Work that nobody waits for, such as giving space back. A failure is logged and tried again. */
export function runInBackground(
  chores: readonly BackgroundTask[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
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
    let more = false;
    for (const { name, round } of chores) {
      try {
        more = (await round()) || more;
      } catch (error) {
        log.warn({ err: error, chore: name }, "a background chore failed; it will be tried again");
      }
    }
    schedule(more ? pauseMilliseconds : restMilliseconds);
  };
  schedule(restMilliseconds);
  return {
    async stop() {
      stopped = true;
      cancel();
      await running;
    },
  };
}
