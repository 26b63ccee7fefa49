import { resolve } from "node:path";
import type { FolderReport } from "../commands/folder-check/check-folder.ts";
import { readMasterKey } from "../host/master-key.ts";
import { realEnvironment } from "../host/world.ts";
import { jsonOption } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import { contentText, countText, sizeText, showProgress } from "./progress.ts";
import { encryptionOption, quietLog } from "./with-stores.ts";

const foundExitCode = 1;
const notCheckedExitCode = 2;

/** `etagere check`: verifies a data folder, also while servers use it, and prints what is damaged.
 *  `commands/folder-check` does the work. */
export const checkCommand = defineCommand({
  name: "check",
  summary: "verify the checksums, counts and references of a data folder",
  description: [
    "Reads one consistent state of a data folder and verifies that referenced contents exist, " +
      "that they match their checksums, that counters and indexes are correct, and that nothing " +
      "is unreferenced. Changes nothing; servers may continue to use the folder.",
  ],
  arguments: [
    {
      value: "FOLDER",
      kind: "folder",
      help: "a data folder: the --location of a server, such as .etagere",
    },
  ],
  options: { ...encryptionOption, ...jsonOption },
  exitCodes: ["no problems", "problems found", "the check could not run"],
  usageExitCode: notCheckedExitCode,
  example: "etagere check .etagere",
  run: async ({ words: [folder = ""], options: { encryption, json } }) => {
    const { clock } = realEnvironment(quietLog);
    const { checkFolder } = await import("../commands/folder-check/check-folder.ts");
    const master = encryption === undefined ? undefined : await readMasterKey(encryption);
    const checked = { location: resolve(folder), clock, log: quietLog, master };
    const found = await showProgress({ json }, (progress) => checkFolder({ ...checked, progress }));
    return {
      report: { ...found, records: Object.fromEntries(found.records) },
      text: `${describeReport(found)}\n`,
      exitCode: found.problemCount === 0 ? 0 : foundExitCode,
    };
  },
});

/** Most problems that are printed in full, so that the report of a badly damaged folder stays
 *  readable; further ones are only counted. */
const shownMax = 50;

function describeReport(report: FolderReport): string {
  const { records, nodes, extents, bytesRead, bytesWithChecksum, problems, problemCount } = report;
  const total = [...records.values()].reduce((sum, count) => sum + count, 0);
  const kinds = [...records].map(([name, count]) => `${countText(count)} ${name}`).join(", ");
  const hidden = problemCount - Math.min(problems.length, shownMax);
  return [
    `${countText(total)} records${kinds === "" ? "" : `: ${kinds}`}`,
    `${contentText(report)}: blobs, snapshots, versions, uncommitted blocks, files`,
    `stored outside of records: ${countText(extents)} extents, ${countText(nodes)} content ` +
      `nodes; ${sizeText(bytesRead)} read, ${sizeText(bytesWithChecksum)} of them compared with ` +
      "a checksum",
    ...problems.slice(0, shownMax).map((problem) => `PROBLEM ${problem}`),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
    problemCount === 0
      ? "no problems: all references, checksums, counts and indexes are correct"
      : `PROBLEMS FOUND: ${problemCount}`,
  ].join("\n");
}
