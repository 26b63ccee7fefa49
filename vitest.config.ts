import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Properties of hundreds of worlds take their time when each is in a database. */
const isElsewhere = process.env["ETAGERE_TEST_STORE"] !== undefined;
const timeoutMilliseconds = isElsewhere ? 300_000 : 180_000;
/** Ends a test that waits for something that never happens. A busy machine may take seconds for
 *  what usually takes milliseconds. */
const pollMillisecondsMax = 60_000;

/** Files that take longest, because they start many processes or wait for them. */
const longest: readonly string[] = [
  "tests/explorer/",
  "tests/workers/",
  "tests/cli/command",
  "src/store/lmdb/lmdb-store",
  "tests/simulate/simulate",
  "tests/postgres/",
  "tests/e2e/",
  "tests/fixtures/",
  "tests/archive/",
  "tests/folder/",
  "tests/guides/",
  "tests/cli/",
];

/** Starts the longest files first, so that none of them runs alone at the end. Without this, a fresh
 *  clone, which has no durations of earlier runs, would start the largest files first. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      const rank = longest.findIndex((start) => path.startsWith(start));
      return rank < 0 ? longest.length : rank;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of an array
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "ui/src/**/*.test.ts", "tests/**/*.test.ts"],
    globalSetup: ["tests/harness/global-database.ts", "tests/harness/global-bucket.ts"],
    testTimeout: timeoutMilliseconds,
    hookTimeout: 180_000,
    expect: { poll: { timeout: pollMillisecondsMax } },
    setupFiles: ["tests/harness/property-seed.ts"],
    // Test files of a worker share the modules they import: importing the server anew for each of
    // them took more time than the tests. A test may therefore not mock a module.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // More workers than cores took longer.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
