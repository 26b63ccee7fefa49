import { backupCommand } from "./backup-command.ts";
import { checkCommand } from "./check-command.ts";
import { copyCommand } from "./copy-command.ts";
import { importCommand } from "./import-command.ts";
import { nearest } from "./nearest.ts";
import { serviceModeNames } from "./service-mode.ts";
import type { Subcommand } from "./subcommand.ts";
import { statusCommand } from "./status-command.ts";
import { tourCommand } from "./tour-command.ts";

/** By the first word of the command line. */
export const sideCommands: ReadonlyMap<string, Subcommand> = new Map(
  [checkCommand, backupCommand, copyCommand, importCommand, statusCommand, tourCommand].map(
    (command) => [command.name, command],
  ),
);

/** Most of what is mistyped is one letter away from what was meant. */
export function unknownCommand(word: string): string {
  const names = [...sideCommands.keys(), ...serviceModeNames, "version"];
  const meant = nearest(word, names);
  const advice =
    meant === undefined
      ? `there are ${names.join(", ")}; without a command, it serves`
      : `did you mean ${meant}?`;
  return `${word}: there is no such command; ${advice}`;
}
