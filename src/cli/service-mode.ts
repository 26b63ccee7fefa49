import { basename } from "node:path";
import { serviceNames, type ServiceName } from "../protocol/names.ts";

/** The service that the first word of the command line selects: `etagere blob` serves only blobs,
 *  as Azurite's programs for single services do. Undefined if the word names no service. */
export function serviceModeOf(word: string): ServiceName | undefined {
  return serviceNames.find((name) => name === word);
}

/** The service that the name of the program selects: `azurite-blob` serves only blobs. With links
 *  of these names, scripts that were written for Azurite work unchanged. */
export function serviceModeOfProgram(path: string): ServiceName | undefined {
  const [, word = ""] = /^azurite-(\w+)(?:\.\w+)?$/.exec(basename(path)) ?? [];
  return word === "file" ? undefined : serviceModeOf(word);
}
