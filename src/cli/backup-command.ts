import { resolve } from "node:path";
import { messageOf, StartRefused } from "../host/start-refused.ts";
import { realEnvironment } from "../host/world.ts";
import { quietLog } from "./with-stores.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

/** `etagere backup`: copies a data folder while servers use it. */
export const backupCommand: Subcommand = {
  name: "backup",
  usage: "--from FOLDER --to FOLDER [--base FOLDER]",
  summary: "copy a data folder, also while servers use it",
  help: [
    "Copies one consistent state of a data folder; servers may continue to use it. The copy is",
    "created under a temporary name and renamed once it is complete and flushed to disk. Records",
    "or contents stored elsewhere (--store, --content) are not copied.",
    "",
    "  --from FOLDER   the data folder: --location of a server, by default .etagere",
    "  --to FOLDER     target; must not exist or must be empty",
    "  --base FOLDER   an earlier backup: contents that have not changed since are linked to its",
    "                  files, and take neither time nor space; records are copied. Every backup is",
    "                  complete, and can be deleted. To restore, copy a backup and serve the copy.",
    "",
    "exit code: 0 the backup is complete and flushed, 1 no backup was made",
    "example:   etagere backup --from .etagere --to backup-monday",
  ],
  run: backup,
};

const options = {
  from: { type: "string" },
  to: { type: "string" },
  base: { type: "string" },
} as const;

async function backup(words: readonly string[]): Promise<number> {
  const read = parseCliArguments(words, options);
  const from = read.ok ? read.texts.get("from") : undefined;
  const to = read.ok ? read.texts.get("to") : undefined;
  if (!read.ok || from === undefined || to === undefined || read.others.length > 0) {
    const problem = read.ok ? "only --from, --to and --base are accepted" : read.problem;
    process.stderr.write(usageError(backupCommand, problem));
    return 1;
  }
  const { clock } = realEnvironment(quietLog);
  const { backupFolder } = await import("../commands/folder-backup.ts");
  try {
    const given = read.texts.get("base");
    const base = given === undefined ? undefined : resolve(given);
    const folders = { location: resolve(from), to: resolve(to), base };
    const report = await backupFolder({ ...folders, clock, log: quietLog });
    const { extents, bytes, linkedExtents } = report;
    const linked = linkedExtents === 0 ? "" : `, ${linkedExtents} extents linked to ${given}`;
    process.stdout.write(`${to}: all records and ${extents} extents, ${bytes} bytes${linked}\n`);
    return 0;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
}
