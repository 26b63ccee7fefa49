import { statSync } from "node:fs";

import type { Clock, Log } from "../../base/world.ts";
import { claimLocation, silenceSecondsMax, StoreInUse } from "./location.ts";
import type { Location, LocationOptions } from "./location.ts";

const pauseMilliseconds = 1_000;
/** Longer than the time after which a marker file expires. */
const triesMax = silenceSecondsMax + 10;

/** Claims a location, waiting for the marker file of a process that was killed in another container
 *  or on another machine: it looks like that of a running process until it has not been touched for
 *  `silenceSecondsMax`. As soon as the file is touched, the location is known to be in use and the
 *  claim fails. */
export async function awaitLocation(options: LocationOptions, log: Log): Promise<Location> {
  let firstTouched: number | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return claimLocation(options);
    } catch (error) {
      if (!(error instanceof StoreInUse) || error.markerPath === undefined) throw error;
      const touched = statSync(error.markerPath, { throwIfNoEntry: false })?.mtimeMs;
      const isAlive =
        firstTouched !== undefined && touched !== undefined && touched !== firstTouched;
      if (isAlive || tries >= triesMax) throw error;
      firstTouched ??= touched;
      if (tries === 1) {
        const { location } = options;
        const message = "location may be in use; waiting up to 30 s for its marker file to expire";
        log.warn({ err: error, location, marker: error.markerPath }, message);
      }
      await pause(options.clock);
    }
  }
}

function pause(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.after(pauseMilliseconds, resolve));
}
