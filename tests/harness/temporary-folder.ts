import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/**
 * Creates a folder for the tests of a file or of a `describe` block and removes it after them. Call
 * it before registering other `afterAll` hooks: they run in reverse order, so servers that use the
 * folder stop before it is removed.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "etagere-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
