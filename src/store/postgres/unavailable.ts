import pg from "pg";

import { StoreBusy, StoreUnavailable } from "../store.ts";
import { mistakes } from "./differences.ts";
import { givenUpCode } from "./schema.ts";

/** The database is away, restarting, changing its primary or overloaded. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return !mistakes.has((error.code ?? "").slice(0, 2));
}

/** The others have taken over what this node held: it must not commit any more. */
export function isGivenUp(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === givenUpCode;
}

export function asUnavailable(error: unknown): unknown {
  const isOurs = error instanceof StoreUnavailable || error instanceof StoreBusy;
  if (isOurs || (!isPassing(error) && !isGivenUp(error))) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`the database does not answer: ${reason}`, { cause: error });
}
