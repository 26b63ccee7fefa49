import type { Log } from "../../src/base/world.ts";

/** A log without output, for tests and their child processes. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
