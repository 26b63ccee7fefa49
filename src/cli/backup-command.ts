import { resolve } from "node:path";
import { backupFolder } from "../server/folder-backup.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import { realSurroundings } from "../server/start.ts";
import { quietLog } from "./quiet-log.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const backupCommand: Subcommand = {
  name: "backup",
  usage: "--from FOLDER --to FOLDER",
  summary: "copy a folder, also one that is in use",
  help: [
    "Copies a data folder as it is at one moment, while servers may go on using it. The copy",
    "appears under its name when it is whole and on disk; a server can be started on it. Records",
    "and bytes that lie elsewhere (--store, --content) are not in the folder, and not in the copy.",
    "",
    "  --from FOLDER   the data folder: the --location of a server, .etagere if none was given",
    "  --to FOLDER     where the copy goes; must not exist, or be empty",
    "",
    "exit code: 0 the copy is whole and on disk, 1 there is none",
    "example:   etagere backup --from .etagere --to backup-monday",
  ],
  run: backup,
};

const options = { from: { type: "string" }, to: { type: "string" } } as const;

async function backup(words: readonly string[]): Promise<number> {
  const read = parseCliArguments(words, options);
  const from = read.ok ? read.texts.get("from") : undefined;
  const to = read.ok ? read.texts.get("to") : undefined;
  if (!read.ok || from === undefined || to === undefined || read.others.length > 0) {
    const problem = read.ok ? "it takes --from and --to, and nothing else" : read.problem;
    process.stderr.write(usageError(backupCommand, problem));
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
