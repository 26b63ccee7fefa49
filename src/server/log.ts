import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { destination, pino } from "pino";
import type { Log } from "../base/world.ts";

export interface LogOptions {
  /** Receives all lines, also of level `debug`, instead of standard error. */
  readonly debugFile?: string;
  readonly silent: boolean;
}

/** Logs to standard error: tools parse the lines on standard output. */
export function openLog(options: LogOptions): Log {
  const { debugFile, silent } = options;
  if (debugFile !== undefined) {
    mkdirSync(dirname(debugFile), { recursive: true });
    return fromPino(
      "debug",
      destination({ dest: debugFile, append: true, sync: true, mode: 0o600 }),
    );
  }
  return fromPino(silent ? "error" : "info", destination({ fd: 2, sync: true }));
}

function fromPino(level: string, target: ReturnType<typeof destination>): Log {
  const logger = pino({ level, base: null, messageKey: "message" }, target);
  return {
    verbose: level === "debug",
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
