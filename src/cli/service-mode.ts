import { basename } from "node:path";
import type { ServiceName } from "../protocol/names.ts";

/** First words of the command line that select a single service. */
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

/** The service that the name of the program selects: `azurite-blob` serves only blobs. With links
 *  of these names, scripts that were written for Azurite work unchanged. */
export function serviceModeOfProgram(path: string): ServiceName | undefined {
  const [, word = ""] = /^azurite-(\w+)(?:\.\w+)?$/.exec(basename(path)) ?? [];
  return word === "file" ? undefined : modes.get(word);
}
