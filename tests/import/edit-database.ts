import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Fields = Readonly<Record<string, unknown>>;

/** Replaces each document of a database by a list of documents, as time or damage would. */
export function editDatabase(
  folder: string,
  service: "blob" | "queue" | "table",
  edit: (fields: Fields) => readonly Fields[],
): void {
  const path = join(folder, `__azurite_db_${service}__.json`);
  const database = JSON.parse(readFileSync(path, "utf8")) as {
    collections: { data: readonly Fields[] }[];
  };
  for (const collection of database.collections) collection.data = collection.data.flatMap(edit);
  writeFileSync(path, JSON.stringify(database));
}
