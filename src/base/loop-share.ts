/** Limits the work per event-loop iteration. Work whose length a client chooses (a scan, a long
 *  body, a list of blocks) is divided into steps. All requests share one limit per iteration, so
 *  that neither a single request nor many requests together delay other requests for long. */

/** One unit is the work of decoding and rendering one record: about 10 µs. */
export const unitsPerIterationMax = 256;

let spent = 0;
let nextIteration: Promise<void> | undefined;
let isResetDue = false;

/**
 * Counts work that was done. Returns `undefined` if this iteration has room for more. Otherwise the
 * caller awaits the returned promise, which resolves in the next iteration.
 *
 *     const wait = spend(entries.length);
 *     if (wait !== undefined) await wait;
 */
export function spend(units: number): Promise<void> | undefined {
  spent += units;
  if (!isResetDue) {
    isResetDue = true;
    setImmediate(reset);
  }
  if (spent < unitsPerIterationMax) return undefined;
  nextIteration ??= new Promise((resolve) => setImmediate(resolve));
  return nextIteration;
}

function reset(): void {
  spent = 0;
  nextIteration = undefined;
  isResetDue = false;
}
