/** What databases compatible with PostgreSQL may lack. They run all other SQL of this folder
 *  unchanged; docs/SCALE.md names a replacement for each item here, or says that it can be left
 *  out. None of it is needed for correct commits: these rely only on the lock of the single row of
 *  the table `state` and on revisions. */

/** Settings of each connection. Every query reads rows by primary key or by a range of it. The
 *  `enable_*` settings and the generic plan prevent a scan of the whole table, which the planner
 *  could choose if the table was small or its statistics were outdated when the plan was made.
 *  `jit` is off because compiling costs more than such short queries. */
export const plannerSettings = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  plan_cache_mode: "force_generic_plan",
} as const;

/** Begins a read-only transaction whose statements all see one state. On another database any
 *  isolation level that reads from one snapshot suffices. */
export const beginSnapshotRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/** Takes a lock until the end of the transaction, so that only one server node at a time creates or
 *  upgrades the schema. */
export function schemaLock(schema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtext('etagere ${schema}'))`;
}

/** The statement of `commit_batch` that notifies other server nodes of a commit, with its sequence
 *  and node. It only shortens their delay: they also poll every second, so one may be lost. */
export const notifyCommit = `PERFORM pg_notify('etagere_' || current_schema(),
      (sequence_before + batch_size)::text || ' ' || batch_node);`;

/** Queries whether a server is a standby, which accepts no commits. Used if there are several. */
export const standbyQuery = "SELECT pg_is_in_recovery() AS is_standby";

/** SQLSTATE classes of errors that a repetition does not resolve: 22, 23, 42 and P0 are bugs in a
 *  statement; EG is raised by `commit_batch` (fenced node, batch out of order). All other errors,
 *  such as class 40 (serialisation failure, deadlock), are treated as transient. */
export const permanentErrorClasses: ReadonlySet<string> = new Set(["22", "23", "42", "P0", "EG"]);
