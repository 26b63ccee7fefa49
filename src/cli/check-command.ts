import { resolve } from "node:path";
import { checkFolder, type FolderReport } from "../server/folder-check/check-folder.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { quietLog } from "./quiet-log.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

const shownMax = 50;
const foundExitCode = 1;
const notCheckedExitCode = 2;

export const checkCommand: Subcommand = {
  name: "check",
  usage: "FOLDER",
  summary: "hold what is stored against its checksums and counts",
  help: [
    "Reads everything in a data folder as it is at one moment: every reference must have its",
    "bytes, every byte fit its checksum, every count be right, and nothing be left over. Changes",
    "nothing; servers may go on using the folder.",
    "",
    "  FOLDER   a data folder: the --location of a server, .etagere if none was given",
    "",
    "exit code: 0 all is sound, 1 something is not, 2 it could not be told",
    "example:   etagere check .etagere",
  ],
  run: check,
};

async function check(words: readonly string[]): Promise<number> {
  const read = parseCliArguments(words, {});
  const [folder, ...more] = read.ok ? read.others : [];
  if (!read.ok || folder === undefined || more.length > 0) {
    const problem = read.ok ? "it takes one folder" : read.problem;
    process.stderr.write(usageError(checkCommand, problem));
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
      : `NOT SOUND: ${problemCount} ${problemCount === 1 ? "problem" : "problems"}`,
  ].join("\n");
}
