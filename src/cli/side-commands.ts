import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import { copyCommand } from "./copy-command.ts";
import { statusCommand } from "./status-command.ts";
import { tourCommand } from "./tour-command.ts";

/** What the program does beside serving, by the first word; each resolves with its exit code. */
export const sideCommands: ReadonlyMap<string, (words: readonly string[]) => Promise<number>> =
  new Map([
    ["check", checkCommand],
    ["backup", backupCommand],
    ["copy", copyCommand],
    ["status", statusCommand],
    ["tour", tourCommand],
  ]);

export const sideCommandsHelp: readonly string[] = [
  `  ${"etagere check FOLDER".padEnd(37)} hold what is stored against its checksums and counts`,
  `  ${"etagere backup --from F --to F".padEnd(37)} copy a folder, also one that is in use`,
  `  ${"etagere copy --from P --to P".padEnd(37)} move to another engine (postgres://, s3://)`,
  `  ${"etagere status".padEnd(37)} who holds what; --json, --watch, --location F, --url URL`,
  `  ${"etagere tour".padEnd(37)} show what clients can rely on (in a checkout)`,
];
