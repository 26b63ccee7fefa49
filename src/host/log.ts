import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { destination, pino } from "pino";
import type { Log } from "../base/world.ts";

/** The log of a process: the library pino, set up for servers, workers and commands. */

/** The options of a server that its log depends on. */
interface LogSettings {
  /** File that receives all lines, including level `debug`, instead of standard error. */
  readonly debug?: string | undefined;
  readonly silent: boolean;
}

/** Opens the log of a server or worker process, as lines of JSON. It goes to standard error,
 *  because tools parse the lines on standard output. `pid` is part of every line if several
 *  processes write to one log. */
export function logFor({ debug: file, silent }: LogSettings, pid?: number): Log {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true });
  const toFile = { dest: file, append: true, mode: 0o600 };
  const target = destination({ ...(file === undefined ? { fd: 2 } : toFile), sync: true });
  const level = file === undefined ? (silent ? "error" : "info") : "debug";
  const base = pid === undefined ? null : { pid };
  const logger = pino({ level, base, messageKey: "message" }, target);
  return {
    verbose: level === "debug",
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
