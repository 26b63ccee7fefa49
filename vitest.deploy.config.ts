import { defineConfig } from "vitest/config";

/** The tests of `npm run test:deploy`, which need its container runtime. */
export default defineConfig({
  test: {
    include: ["tests/deploy/*.deploy.ts"],
    fileParallelism: false,
    testTimeout: 300_000,
    // The first run builds Helm and kubeconform from source, on a busy machine for 20 minutes.
    hookTimeout: 1_800_000,
  },
});
