import { defineConfig } from "vitest/config";

/** The tests of `npm run test:deploy`, which need its container runtime. */
export default defineConfig({
  test: {
    include: ["tests/deploy/*.deploy.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
