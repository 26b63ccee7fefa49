/** The package's entry: a server inside the process that uses it. */
export { start } from "./server/start.ts";
export type { EtagereServer } from "./server/start.ts";
export type { StartOptions } from "./server/options.ts";
export { StartRefused } from "./server/start-refused.ts";
