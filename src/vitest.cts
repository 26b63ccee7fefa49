/** `etagere/vitest` in packages that TypeScript takes for CommonJS: vitest runs their test files as ES
 *  modules, but types of `import` are not usable there (TS1479). */
import type * as entry from "./vitest.ts" with { "resolution-mode": "import" };

const vitest = require("./vitest.js") as typeof entry;

declare namespace vitest {
  export type TestServer = entry.TestServer;
}

// @ts-expect-error -- Not erasable, but this module is always compiled.
export = vitest;
