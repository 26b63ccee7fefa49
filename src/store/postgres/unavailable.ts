import pg from "pg";

import { isTemporary, StoreUnavailable } from "../store.ts";
import { permanentErrorClasses } from "./postgres-specifics.ts";
import { fencedCode } from "./schema.ts";

/** Which errors of a database are temporary, for all files of this folder: a client gets 503 for
 *  them and may retry; any other error is a bug. */

/** Whether an error may vanish by itself: the database is unreachable, restarting, failing over or
 *  overloaded. Errors that the database did not report itself count as a broken connection. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error;
  return !permanentErrorClasses.has((error.code ?? "").slice(0, 2));
}

/** Whether the error says that this server node was fenced: others took it for ended and remove its
 *  opens and locks, so it must not commit any more. */
export function isFenced(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === fencedCode;
}

/** Converts an error to `StoreUnavailable` if it is transient or this server node was fenced;
 *  returns every other error unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (isTemporary(error)) return error;
  if (isFenced(error)) {
    return new StoreUnavailable("this server node was fenced: restart it", { cause: error });
  }
  if (!isTransient(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StoreUnavailable(`the database is unavailable: ${reason}`, { cause: error });
}
