import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "ui/src/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: ["tests/harness/global-database.ts", "tests/harness/global-bucket.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
