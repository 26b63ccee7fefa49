import { basename } from "node:path";
import type { ServiceName } from "../protocol/service-name.ts";

/** Words that, before all options, serve one service alone. */
const modes: ReadonlyMap<string, ServiceName> = new Map([
  ["blob", "blob"],
  ["queue", "queue"],
  ["table", "table"],
  ["file", "file"],
]);

export const serviceModeNames: readonly string[] = [...modes.keys()];

export function serviceModeOf(word: string): ServiceName | undefined {
  return modes.get(word);
}

/** The mode in the name of the program: `azurite-blob` serves blobs alone. Links with these names
 *  start scripts that were written for Azurite. */
export function serviceModeOfProgram(path: string): ServiceName | undefined {
  const [, word = ""] = /^azurite-(\w+)(?:\.\w+)?$/.exec(basename(path)) ?? [];
  return word === "file" ? undefined : modes.get(word);
}
