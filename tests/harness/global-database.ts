import { rmSync } from "node:fs";
import { newFolder, openDatabase, templatesVariable } from "../postgres/database.ts";

/** `ETAGERE_TEST_STORE=postgres npm test`: one database for all test files of the run. Otherwise a
 *  test file may open one of its own. */
export async function setup(): Promise<() => Promise<void>> {
  const templates = newFolder();
  process.env[templatesVariable] = templates;
  const isShared = process.env["ETAGERE_TEST_STORE"] === "postgres";
  const database = isShared ? await openDatabase() : undefined;
  if (database !== undefined) process.env["ETAGERE_TEST_STORE"] = database.url;
  return async () => {
    await database?.stop();
    rmSync(templates, { recursive: true, force: true });
  };
}
