import { defineConfig } from "vitest/config";

/** The suites of `npm run proof`: real processes that are killed, starved or cut off for minutes. */
export default defineConfig({
  test: {
    include: ["tests/**/*.proof.ts"],
    // Each suite loads the whole machine and judges latency and memory.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 240_000,
    // A busy machine may take seconds for what usually takes milliseconds.
    expect: { poll: { timeout: 60_000 } },
  },
});
