import type { Clock, Log, Random } from "../base/world.ts";
import type { AccessLog } from "./access-log.ts";

/** What the outside gives a running server. */
export interface ServerEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Tools wait for these lines on the standard output of the command line. */
  readonly announce: (line: string) => void;
  /** Undefined writes no line per request. */
  readonly accessLog?: AccessLog | undefined;
}
