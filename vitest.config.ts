import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Properties of hundreds of worlds take their time when each is in a database. */
const isElsewhere = process.env["ETAGERE_TEST_STORE"] !== undefined;
const timeoutMilliseconds = isElsewhere ? 300_000 : 60_000;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "ui/src/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: ["tests/harness/global-database.ts", "tests/harness/global-bucket.ts"],
    testTimeout: timeoutMilliseconds,
    hookTimeout: 60_000,
    // Test files of a worker share the modules they import: importing the server anew for each of
    // them took more time than the tests. A test may therefore not mock a module.
    isolate: false,
    // Many test files wait for servers and clients in processes of their own: on two cores, one
    // worker (the default there) leaves a core idle most of the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
