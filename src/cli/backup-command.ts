import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { backupFolder } from "../server/folder-backup.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { quietLog } from "./quiet-log.ts";

export const backupUsage = "usage: etagere backup --from FOLDER --to FOLDER";

/** `etagere backup`: 0 if the copy is whole and on disk, 1 otherwise. */
export async function backupCommand(words: readonly string[]): Promise<number> {
  const { from, to } = readWords(words);
  if (from === undefined || to === undefined) {
    process.stderr.write(`${backupUsage}\n`);
    return 1;
  }
  const { clock } = realSurroundings(quietLog);
  try {
    const folders = { location: resolve(from), to: resolve(to) };
    const { extents, bytes } = await backupFolder({ ...folders, clock, log: quietLog });
    process.stdout.write(`${to}: all records and ${extents} extents, ${bytes} bytes\n`);
    return 0;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
}

function readWords(words: readonly string[]): { readonly from?: string; readonly to?: string } {
  try {
    const options = { from: { type: "string" }, to: { type: "string" } } as const;
    return parseArgs({ args: [...words], options }).values;
  } catch {
    return {};
  }
}
