import pg from "pg";

import { StoreBusy, StoreUnavailable } from "../store.ts";

/** Classes of errors that say the statement itself is wrong: those are mistakes of ours. */
const mistakes: ReadonlySet<string> = new Set(["22", "23", "42", "P0"]);

/** The database is away, restarting, changing its primary or overloaded. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return !mistakes.has((error.code ?? "").slice(0, 2));
}

export function asUnavailable(error: unknown): unknown {
  const isOurs = error instanceof StoreUnavailable || error instanceof StoreBusy;
  if (isOurs || !isPassing(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`the database does not answer: ${reason}`, { cause: error });
}
