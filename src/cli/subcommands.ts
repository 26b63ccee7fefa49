import { accountCommand } from "./account-command.ts";
import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import { copyCommand } from "./copy-command.ts";
import { envCommand } from "./env-command.ts";
import { eventsCommand } from "./events-command.ts";
import { exportCommand } from "./export-command.ts";
import { importCommand } from "./import-command.ts";
import { loadCommand } from "./load-command.ts";
import { nearestName } from "./parse-cli-arguments.ts";
import { serviceModeNames } from "./service-mode.ts";
import type { Subcommand } from "./subcommand.ts";
import { snapshotCommand } from "./snapshot-command.ts";
import { statusCommand } from "./status-command.ts";
import { tourCommand } from "./tour-command.ts";

/** All subcommands, by name. */
export const subcommands: ReadonlyMap<string, Subcommand> = new Map(
  [
    checkCommand,
    backupCommand,
    copyCommand,
    importCommand,
    exportCommand,
    loadCommand,
    statusCommand,
    snapshotCommand,
    accountCommand,
    eventsCommand,
    envCommand,
    tourCommand,
  ].map((command) => [command.name, command]),
);

/** The error for an unknown first word, with the closest command if there is one. */
export function unknownCommand(word: string): string {
  const names = [...subcommands.keys(), ...serviceModeNames, "version"];
  const meant = nearestName(word, names);
  const advice =
    meant === undefined
      ? `commands: ${names.join(", ")}; without a command, etagere serves`
      : `did you mean ${meant}?`;
  return `${word}: no such command; ${advice}`;
}
