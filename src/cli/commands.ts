import { serviceNames } from "../protocol/names.ts";
import { accountCommand } from "./account-command.ts";
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import type { Command } from "./command.ts";
import { completionCommand } from "./completion-command.ts";
import { copyCommand } from "./copy-command.ts";
import { doctorCommand } from "./doctor-command.ts";
import { encryptionCommand } from "./encryption-command.ts";
import { envCommand } from "./env-command.ts";
import { eventsCommand } from "./events-command.ts";
import { exportCommand } from "./export-command.ts";
import { importCommand } from "./import-command.ts";
import { loadCommand } from "./load-command.ts";
import { loginCommand } from "./login-command.ts";
import { manualCommand } from "./manual-command.ts";
import { nearestName } from "./parse-words.ts";
import { principalCommand } from "./principal-command.ts";
import { snapshotCommand } from "./snapshot-command.ts";
import { statusCommand } from "./status-command.ts";
import { tourCommand } from "./tour-command.ts";

/** All commands of `etagere NAME …`, by name; without a name, `etagere` serves. The command line is
 *  parsed by this table and by `serverOptions`, and the help texts, the shell completion, the
 *  manual page and docs/OPTIONS.md are made from both. */
export const commands: ReadonlyMap<string, Command> = new Map(
  [
    checkCommand,
    backupCommand,
    copyCommand,
    importCommand,
    exportCommand,
    loadCommand,
    statusCommand,
    loginCommand,
    snapshotCommand,
    accountCommand,
    principalCommand,
    eventsCommand,
    encryptionCommand,
    doctorCommand,
    envCommand,
    tourCommand,
    completionCommand,
    manualCommand,
  ].map((command) => [command.name, command]),
);

/** All words that may be the first of a command line, and what each does. */
export const firstWords: ReadonlyMap<string, string> = new Map([
  ...[...commands.values()].map(({ name, summary }) => [name, summary] as const),
  ...serviceNames.map((name) => [name, `serve only the ${name} service`] as const),
  ["version", "print the version"] as const,
  ["help", "describe the server, or a command"] as const,
]);

export function isCommandName(word: string): boolean {
  return firstWords.has(word);
}

/** The error for an unknown first word, with the closest command if there is one. */
export function unknownCommand(word: string): string {
  const meant = nearestName(word, firstWords.keys());
  const advice =
    meant === undefined
      ? `commands: ${[...firstWords.keys()].join(", ")}; without a command, etagere serves`
      : `did you mean ${meant}?`;
  return `${word}: no such command; ${advice}`;
}
