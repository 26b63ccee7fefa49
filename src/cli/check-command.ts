import { resolve } from "node:path";
import { checkFolder, type FolderReport } from "../server/folder-check/check-folder.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { quietLog } from "./quiet-log.ts";

const shownMax = 50;
const foundExitCode = 1;
const notCheckedExitCode = 2;

export const checkUsage = "usage: etagere check FOLDER";

/** `etagere check FOLDER`: 0 if all is sound, 1 if something is not, 2 if nothing could be told. */
export async function checkCommand(words: readonly string[]): Promise<number> {
  const [folder] = words;
  if (folder === undefined || words.length > 1 || folder.startsWith("-")) {
    process.stderr.write(`${checkUsage}\n`);
    return notCheckedExitCode;
  }
  const { clock } = realSurroundings(quietLog);
  try {
    const report = await checkFolder({ location: resolve(folder), clock, log: quietLog });
    process.stdout.write(`${describeReport(report)}\n`);
    return report.problemCount === 0 ? 0 : foundExitCode;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return notCheckedExitCode;
  }
}

export function describeReport(report: FolderReport): string {
  const { records, nodes, extents, bytesRead, bytesWithChecksum, problems, problemCount } = report;
  const total = [...records.values()].reduce((sum, count) => sum + count, 0);
  const kinds = [...records].map(([name, count]) => `${count} ${name}`).join(", ");
  const hidden = problemCount - Math.min(problems.length, shownMax);
  return [
    `${total} records${kinds === "" ? "" : `: ${kinds}`}`,
    `${extents} extents, ${nodes} content nodes`,
    `${bytesRead} stored bytes read, ${bytesWithChecksum} of them held against a checksum`,
    ...problems.slice(0, shownMax).map((problem) => `PROBLEM ${problem}`),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    problemCount === 0
      ? "sound: every reference has its bytes, every count is right, nothing is left over"
      : `NOT SOUND: ${problemCount} problems`,
  ].join("\n");
}
