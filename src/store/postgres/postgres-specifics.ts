/**
 * All that is PostgreSQL's own, in one place: databases that speak its protocol run the rest, and
 * for each of these either have another way or can do without (docs/SCALE.md). Nothing of it
 * decides what a commit means: that is the lock on the row of `state` and the stamps alone.
 */

/** Every query is a lookup by the primary key: a plan that was made while the tables were small, or
 *  their statistics old, must not read a whole table. */
export const plannerSettings = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
} as const;

/** One state for all reads until the end: where that is called otherwise, any level that shows a
 *  snapshot will do. */
export const beginState = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** So that one node at a time changes the schema; given back with the end of the transaction. */
export function schemaLock(schema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtext('etagere ${schema}'))`;
}

/** Inside the function that commits; a poll every second stands behind it. */
export const notifyCommit = `PERFORM pg_notify('etagere_' || current_schema(),
      (sequence_before + batch_size)::text || ' ' || batch_node);`;

/** Whether a server only follows another. Asked only where several are named. */
export const isStandby = "SELECT pg_is_in_recovery() AS follows";

/** Classes of errors that say the statement itself is wrong: those are mistakes of ours. All
 *  others, such as 40 for a transaction that has to be repeated, pass. */
export const permanentErrorClasses: ReadonlySet<string> = new Set(["22", "23", "42", "P0", "EG"]);
