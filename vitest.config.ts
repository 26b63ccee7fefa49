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
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
