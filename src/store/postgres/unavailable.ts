import pg from "pg";

import { StoreBusy, StoreUnavailable } from "../store.ts";
import { permanentErrorClasses } from "./postgres-specifics.ts";
import { fencedCode } from "./schema.ts";

/** Whether the error is temporary: the database is unreachable, restarting, failing over or
 *  overloaded. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return !permanentErrorClasses.has((error.code ?? "").slice(0, 2));
}

/** Whether this node was fenced: other nodes have taken over its entries, so it must not commit. */
export function isFenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === fencedCode;
}

/** Converts an error of the database to `StoreUnavailable` if it is temporary or this node was
 *  fenced. */
export function asUnavailable(error: unknown): unknown {
  const isStoreError = error instanceof StoreUnavailable || error instanceof StoreBusy;
  if (isStoreError || (!isTransient(error) && !isFenced(error))) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`the database is unreachable: ${reason}`, { cause: error });
}
