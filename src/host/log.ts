import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { destination, pino } from "pino";
import type { Log } from "../base/world.ts";

interface LogOptions {
  /** File that receives all lines, including level `debug`, instead of standard error. */
  readonly debugFile?: string | undefined;
  readonly silent: boolean;
  /** Undefined omits it. */
  readonly pid?: number | undefined;
}

/** The settings of a server that concern its log. */
interface LogSettings extends Pick<LogOptions, "silent"> {
  readonly debug?: string | undefined;
}

/** `pid` is part of every line if several processes write to one log. */
export function logFor({ debug: debugFile, silent }: LogSettings, pid?: number): Log {
  return openLog({ silent, debugFile, pid });
}

/** Logs to standard error: tools parse the lines on standard output. */
function openLog(options: LogOptions): Log {
  const { debugFile, silent, pid } = options;
  if (debugFile !== undefined) {
    mkdirSync(dirname(debugFile), { recursive: true });
    return fromPino(
      { level: "debug", pid },
      destination({ dest: debugFile, append: true, sync: true, mode: 0o600 }),
    );
  }
  return fromPino({ level: silent ? "error" : "info", pid }, destination({ fd: 2, sync: true }));
}

interface LineOptions extends Pick<LogOptions, "pid"> {
  readonly level: string;
}

function fromPino({ level, pid }: LineOptions, target: ReturnType<typeof destination>): Log {
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
