/** Everything specific to PostgreSQL, in one file. Databases with its protocol run the rest, and
 *  have a replacement for each of these or do without it (docs/SCALE.md). None of it affects what a
 *  commit means: that depends only on the lock on the row of `state` and on the revisions. */

/** Every query looks up rows by primary key. These settings prevent a plan that scans a whole table
 *  because the table was small or its statistics were outdated when the plan was made. */
export const plannerSettings = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
} as const;

/** All reads of the transaction see one state. Any isolation level with a snapshot suffices. */
export const beginState = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** Only one node changes the schema at a time; released at the end of the transaction. */
export function schemaLock(schema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtext('etagere ${schema}'))`;
}

/** Part of the commit function. Nodes also poll every second. */
export const notifyCommit = `PERFORM pg_notify('etagere_' || current_schema(),
      (sequence_before + batch_size)::text || ' ' || batch_node);`;

/** Whether a server is a standby; queried only if several servers are configured. */
export const isStandby = "SELECT pg_is_in_recovery() AS follows";

/** SQLSTATE classes of errors in the statement itself, which are bugs. All other errors, such as
 *  class 40 (serialisation failure, deadlock), are transient. */
export const permanentErrorClasses: ReadonlySet<string> = new Set(["22", "23", "42", "P0", "EG"]);
