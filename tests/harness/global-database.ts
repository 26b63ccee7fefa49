import { openDatabase } from "../postgres/database.ts";

/** `ETAGERE_TEST_STORE=postgres npm test`: one database for all test files of the run. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env["ETAGERE_TEST_STORE"] !== "postgres") return undefined;
  const database = await openDatabase();
  process.env["ETAGERE_TEST_STORE"] = database.url;
  return () => database.stop();
}
