import type { Clock, Log, Random } from "../base/world.ts";
import type { AccessLog } from "./access-log.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import type { WorkerPart } from "./worker-part.ts";
import { realClock, realRandom } from "./world.ts";

/** What a running server gets from its caller. */
export interface ServerEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Prints the start-up lines that tools wait for on standard output. */
  readonly announce: (line: string) => void;
  /** Undefined disables the access log. */
  readonly accessLog?: AccessLog | undefined;
  /** Undefined without `--auditLog`. */
  readonly auditLog?: AuditLog | undefined;
  /** Undefined if the server is one process. */
  readonly worker?: WorkerPart | undefined;
}

/** The time and the random numbers of this system. */
export function realEnvironment(log: Log): Omit<ServerEnvironment, "announce"> {
  return { clock: realClock(), random: realRandom(), log };
}
