import { statSync } from "node:fs";

import type { Clock, Log } from "../../base/world.ts";
import { claimLocation, silenceSecondsMax, StoreInUse } from "./location.ts";
import type { Location, LocationOptions } from "./location.ts";

const pauseMilliseconds = 1_000;
/** Longer than a file may go untouched. */
const triesMax = silenceSecondsMax + 10;

/**
 * Whoever was killed in another container, or on another machine, leaves a file that looks like
 * that of a running process until it has been silent for long enough. So whoever starts again at
 * once waits, for as long as the file is not touched: once it is, the location is in use.
 */
export async function awaitLocation(options: LocationOptions, log: Log): Promise<Location> {
  let seen: number | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return claimLocation(options);
    } catch (error) {
      if (!(error instanceof StoreInUse) || error.markerPath === undefined) throw error;
      const touched = statSync(error.markerPath, { throwIfNoEntry: false })?.mtimeMs;
      const isAlive = seen !== undefined && touched !== undefined && touched !== seen;
      if (isAlive || tries >= triesMax) throw error;
      seen ??= touched;
      if (tries === 1) {
        const told = `waits up to ${silenceSecondsMax} seconds for it to show that it is running`;
        log.warn({ location: options.location }, `${error.message}; this start ${told}`);
      }
      await passing(options.clock);
    }
  }
}

function passing(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(pauseMilliseconds, resolve));
}
