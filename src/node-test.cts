/** `etagere/node-test` for CommonJS modules. Types of `import` are not usable there (TS1479), so that
 *  they are exported again here. */
import type * as entry from "./node-test.ts" with { "resolution-mode": "import" };

const nodeTest = require("./node-test.js") as typeof entry;

declare namespace nodeTest {
  export type TestServer = entry.TestServer;
}

// @ts-expect-error -- Not erasable, but this module is always compiled.
export = nodeTest;
