import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isObject } from "../../account/object-reader.ts";
import { holdsAzuriteData } from "./azurite-folder.ts";

/** A file in the data folder that names the Azurite folder that was imported last. */
const markName = "azurite-import.json";

export async function markImported(location: string, folder: string): Promise<void> {
  const text = `${JSON.stringify({ folder: resolve(folder) })}\n`;
  await writeFile(join(location, markName), text, { mode: 0o600 });
}

/** Returns `folder` if it contains Azurite data and is not the folder that was last imported into
 *  `location`. */
export async function unimportedFolder(
  location: string,
  folder: string,
): Promise<string | undefined> {
  if (!holdsAzuriteData(folder)) return undefined;
  try {
    const mark: unknown = JSON.parse(await readFile(join(location, markName), "utf8"));
    return isObject(mark) && mark["folder"] === resolve(folder) ? undefined : folder;
  } catch {
    return folder;
  }
}
