import { readdirSync, type Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What is in a folder, sorted: file systems return entries in any order, and what depends on it
 *  would differ from run to run. Everything in `src` lists folders by these functions. */

export function namesIn(folder: string, options: { readonly isDeep?: boolean } = {}): string[] {
  const recursive = options.isDeep === true;
  return readdirSync(folder, { recursive, encoding: "utf8" }).toSorted();
}

export async function entriesIn(
  folder: string,
  options: { readonly isDeep?: boolean } = {},
): Promise<Dirent[]> {
  const recursive = options.isDeep === true;
  const pathOf = ({ parentPath, name }: Dirent): string => join(parentPath, name);
  const entries = await readdir(folder, { recursive, withFileTypes: true });
  return entries.toSorted((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1));
}
