import { ticksPerMillisecond, type Ticks } from "./ticks.ts";
import type { Clock } from "./world.ts";

/** Limits the work per event-loop iteration. Work whose length a client chooses (a scan, a long
 *  body, a list of blocks) is divided into steps. All requests of a server share one limit per
 *  iteration, so that neither a single request nor many requests together delay other requests for
 *  long. */
export interface LoopShare {
  /**
   * Counts work that was done. Returns `undefined` if this iteration has room for more. Otherwise
   * the caller awaits the returned promise before its next step. It resolves in a later iteration,
   * after those of all callers that came before.
   *
   *     const wait = loop.spend(entries.length);
   *     if (wait !== undefined) await wait;
   */
  spend(units: number): Promise<void> | undefined;
}

/** Units of work per iteration. One unit is decoding and rendering one record: about 10 µs. */
export const unitsPerIterationMax = 256;

/** Time after which an iteration has no room for more, whatever was counted: the same work takes
 *  several times longer in code that has not run before, and on a slow machine. */
const ticksPerIterationMax = 4n * ticksPerMillisecond;

/** Creates the share of one server; all its requests use the same one. */
export function newLoopShare(clock: Pick<Clock, "nextIteration" | "monotonic">): LoopShare {
  let spent = 0;
  let isRequested = false;
  let startedAt: Ticks = 0n;
  /** The requests that wait for an iteration with room, in FIFO order. */
  const waiting: (() => void)[] = [];

  const requestIteration = (): void => {
    if (isRequested) return;
    isRequested = true;
    startedAt = clock.monotonic();
    clock.nextIteration(() => {
      isRequested = false;
      spent = 0;
      resumeNext();
    });
  };

  const hasRoom = (): boolean =>
    spent < unitsPerIterationMax && clock.monotonic() - startedAt < ticksPerIterationMax;

  /** Resumes one caller after the other until their steps have spent the limit. Resuming all of
   *  them would run a step of each in this iteration. */
  const resumeNext = (): void => {
    const resume = waiting.shift();
    if (resume === undefined) return;
    requestIteration();
    resume();
    // The resumed caller counts its step in microtasks, which run before this.
    queueMicrotask(() =>
      process.nextTick(() => {
        if (hasRoom()) resumeNext();
      }),
    );
  };

  return {
    spend: (units) => {
      spent += units;
      requestIteration();
      if (hasRoom()) return undefined;
      return new Promise((resolve) => waiting.push(resolve));
    },
  };
}
