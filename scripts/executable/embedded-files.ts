import { getAsset, getRawAsset } from "node:sea";
import { openCacheFolder, realCacheEnvironment } from "./cache-folder.ts";
import { extractFiles } from "./extract-files.ts";

/** The name of the asset that lists the files to extract, as a JSON array. */
const listName = "files.json";

let extracted: string | undefined;

/** The folder with the extracted files of the package; they are extracted at the first call. */
export function extractedFolder(): string {
  extracted ??= extractFiles(openCacheFolder(realCacheEnvironment()), embeddedFiles());
  return extracted;
}

export function embeddedText(name: string): string {
  return getAsset(name, "utf8");
}

function embeddedFiles(): ReadonlyMap<string, Uint8Array> {
  const names = JSON.parse(embeddedText(listName)) as readonly string[];
  return new Map(names.map((name) => [name, new Uint8Array(getRawAsset(name) as ArrayBuffer)]));
}
