import type { Log } from "../base/world.ts";

const nothing = (): void => undefined;

/** For commands whose only output is their report. */
export const quietLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
