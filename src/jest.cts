/** `etagere/jest`. Jest loads modules again for each test file, and cannot `require` ES modules.
 *  Therefore the server is loaded by Node itself, once per worker. */
import type * as jest from "./jest.ts" with { "resolution-mode": "import" };

type JestModule = typeof jest;
type Arguments = Parameters<JestModule["testServer"]>;

const requireNatively = require("./require-natively.cjs") as NodeJS.Require;

const { testServer } = requireNatively("./jest.js") as JestModule;

/** The hooks of the test file. Jest provides this module, under any configuration. */
function jestHooks(): Arguments[1] {
  try {
    return require("@jest/globals") as Arguments[1];
  } catch {
    return undefined;
  }
}

const etagereJest = {
  testServer: (options?: Arguments[0]): jest.TestServer => testServer(options, jestHooks()),
};

// Node finds the names that ES modules can import in assignments of this form.
exports.testServer = etagereJest.testServer;

declare namespace etagereJest {
  export type TestServer = jest.TestServer;
}

// @ts-expect-error -- Not erasable, but this module is always compiled.
export = etagereJest;
