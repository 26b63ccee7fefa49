import { ArchiveRefused } from "../server/archive/archive-refused.ts";
import { ImportRefused } from "../server/azurite-import/import-refused.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";

/** Prints why a command failed; returns its exit code. */
export function printFailure(error: unknown, consequence: string): number {
  for (const problem of problemsOf(error)) process.stderr.write(`etagere: ${problem}\n`);
  process.stderr.write(`etagere: ${consequence}\n`);
  return 1;
}

function problemsOf(error: unknown): readonly string[] {
  const hasProblems =
    error instanceof ArchiveRefused ||
    error instanceof ImportRefused ||
    error instanceof StartRefused;
  return hasProblems ? error.problems : [messageOf(error)];
}
