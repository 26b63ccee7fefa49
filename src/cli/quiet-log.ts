import type { Log } from "../base/world.ts";

const nothing = (): void => undefined;

/** A log without output, for commands whose only output is their report. */
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
