/**
 * Work whose length a client chooses (a scan, a long body, a list of blocks) is done in pieces. All
 * requests share what one iteration of the event loop may spend on it, so that none of them, and no
 * number of them, holds the loop for long.
 */

/** One unit is about as much as decoding and rendering one record: some ten microseconds. */
export const unitsPerTurnMax = 256;

let spent = 0;
let nextTurn: Promise<void> | undefined;
let isResetDue = false;

/**
 * Counts work that was done. Undefined as long as this iteration has room for more; otherwise the
 * caller waits for the next one before it goes on.
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
  if (spent < unitsPerTurnMax) return undefined;
  nextTurn ??= new Promise((resolve) => setImmediate(resolve));
  return nextTurn;
}

function reset(): void {
  spent = 0;
  nextTurn = undefined;
  isResetDue = false;
}
