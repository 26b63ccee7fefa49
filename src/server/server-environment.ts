import type { Clock, Log, Random } from "../base/world.ts";
import type { AccessLog } from "./access-log.ts";

/** What a running server gets from its caller. */
export interface ServerEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Prints the start-up lines that tools wait for on standard output. */
  readonly announce: (line: string) => void;
  /** Undefined disables the access log. */
  readonly accessLog?: AccessLog | undefined;
}
