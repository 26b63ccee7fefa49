import type { Ticks } from "./ticks.ts";

/** What the parts of a server get of the machine: clock, random numbers and log. Only
 *  `host/world.ts` creates the real ones, so that tests and simulations can run a server with their
 *  own time and randomness. */

/** The clock of a running server; tests use a manual one. */
export interface Clock {
  /** Wall-clock time, for the dates of requests and signatures. Unlike store time it may go
   *  back. */
  wall(): Ticks;
  /** Wall-clock time of the machine if a test has moved `wall` ahead of it. Clients sign their
   *  requests with this time. */
  machineWall?(): Ticks;
  /** Ticks since an arbitrary time at or before the start of this boot. Never decreases, and counts
   *  the time while the machine was suspended. */
  monotonic(): Ticks;
  /** Identifies the boot that `monotonic` counts from. */
  readonly bootId: string;
  /** Calls `run` after this time; the returned function cancels the call. Timers only trigger work:
   *  what a request may do depends on store time alone. */
  after(milliseconds: number, run: () => void): () => void;
  /** Calls `run` in the next iteration of the event loop, in the order of the calls. */
  nextIteration(run: () => void): void;
}

/** The source of random numbers; tests use a deterministic one. */
export interface Random {
  bytes(count: number): Uint8Array;
}

/** The log of a running server. Messages are constant; values are in `fields`, an exception is in
 *  its `err`. */
export interface Log {
  /** Whether `debug` messages are written; undefined means no. If they are not, callers skip
   *  building costly fields. */
  readonly verbose?: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Resolves when `work` has ended, but at the latest after this time. For the end of a server,
 *  which must not wait for ever. */
export async function endWithin(
  clock: Pick<Clock, "after">,
  milliseconds: number,
  work: Promise<unknown> | undefined,
): Promise<void> {
  let cancel = (): void => {};
  const timeout = new Promise<void>((resolve) => {
    cancel = clock.after(milliseconds, resolve);
  });
  await Promise.race([work, timeout]);
  cancel();
}

/** All that a part of a server gets of the machine, real or simulated. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
