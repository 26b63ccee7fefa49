import pg from "pg";

import { StoreBusy, StoreUnavailable } from "../store.ts";
import { permanentErrorClasses } from "./postgres-specifics.ts";
import { fencedCode } from "./schema.ts";

/** The database is away, restarting, changing its primary or overloaded. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return !permanentErrorClasses.has((error.code ?? "").slice(0, 2));
}

/** The others have taken over what this node held: it must not commit any more. */
export function isFenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === fencedCode;
}

export function asUnavailable(error: unknown): unknown {
  const isOurs = error instanceof StoreUnavailable || error instanceof StoreBusy;
  if (isOurs || (!isTransient(error) && !isFenced(error))) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`the database does not answer: ${reason}`, { cause: error });
}
