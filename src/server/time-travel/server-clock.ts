import type { Clock } from "../../base/world.ts";
import { dateOf } from "../world.ts";
import { parseDuration } from "./duration.ts";
import type { TravellingClock } from "./travelling-clock.ts";

/** The time of a server, which tests can move forward. */
export interface ServerClock {
  /** Moves the time of the server forward: by milliseconds, or by a text such as "61s", "15m", "2h"
   *  or "7d". Leases, visibility timeouts, SAS and times to live expire, and background work that
   *  becomes due runs. Time never goes back, also not by `restore` and `reset`. */
  advance(duration: string | number): void;
  /** Present time of the server. */
  now(): Date;
}

/** The clock as programs see it. Only a `TravellingClock` can be moved. */
export function serverClock(clock: Clock | TravellingClock): ServerClock {
  return {
    advance(duration) {
      const milliseconds = parseDuration(duration);
      if (!("advance" in clock)) throw new Error("the clock of this server cannot be moved");
      clock.advance(milliseconds);
    },
    now: () => dateOf(clock.wall()),
  };
}
