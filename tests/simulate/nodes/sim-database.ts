import type { Conditions } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
import { microsecondsPerSecond, ticksAt } from "../sim-process.ts";
import { treeScan } from "../../../src/store/tree.ts";
import type { VersionedEntry } from "../../../src/store/engine.ts";
import {
  batchRules,
  boundsIn,
  commitBatch,
  databaseError,
  emptyTables,
  entryAt,
  numbersIn,
  textsIn,
  type Tables,
  type Value,
} from "./tables.ts";

export interface Statement {
  /** The name of a prepared statement. */
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly Value[];
}

export type Rows = readonly (object | readonly unknown[])[];
/** What a statement returns: its rows, those of each part of a message, or an error. */
export type Result =
  | { readonly rows: Rows; readonly rowCount?: number }
  | readonly { readonly rows: Rows }[]
  | Error;
type Respond = (result: Result) => void;

interface Transaction {
  /** What its statements read: one state, or the latest with its own changes. */
  tables: Tables;
  readonly isWriting: boolean;
  hasFailed: boolean;
}

/** A connection as the database sees it. */
export interface Session {
  readonly schema: Schema;
  /** Number of the server that runs it; a failover starts the next one. */
  readonly server: number;
  isOpen: boolean;
  transaction?: Transaction | undefined;
  /** A statement that runs ends first, even if the client has gone. */
  isRunning: boolean;
  /** Since when a transaction waits for its next statement. */
  idleSince: number;
  /** Called with the text of a notification; undefined if it does not listen. */
  notify?: ((payload: string) => void) | undefined;
  readonly onNotification: (payload: string) => void;
  /** The database has ended the connection. */
  readonly onEnd: () => void;
}

interface LockRequest {
  readonly session: Session;
  readonly run: () => void;
  isGone: boolean;
}

/** A schema: its tables, and the lock of the only row of the table `state`. */
class Schema {
  tables = emptyTables();
  format: Rows = [];
  holder: Session | undefined;
  waiting: LockRequest[] = [];
  /** A commit that is being flushed, and sent to the standby. */
  flushing: Tables | undefined;
}

interface DatabaseOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Pick<Conditions, "moments">;
  readonly statementMicroseconds: readonly [number, number];
  readonly flushMicroseconds: readonly [number, number];
}

const statementMicrosecondsMax = 10 * microsecondsPerSecond;
const idleMicrosecondsMax = 90 * microsecondsPerSecond;
const done: { readonly rows: Rows } = { rows: [] };
const timedOut = () => databaseError("57014", "canceling statement due to statement timeout");
const withoutEffect =
  /^(SET LOCAL|CREATE|ALTER TABLE|INSERT INTO state|SELECT pg_advisory_xact_lock)/;

/**
 * PostgreSQL with a synchronous standby, with the guarantees that the server relies on: statements
 * read one state; a transaction that holds the lock of the row in `state` excludes other commits; a
 * commit is visible and acknowledged when both have it; a failover keeps all acknowledged commits,
 * and others or not. A statement whose client has gone is still executed.
 */
export class SimDatabase {
  readonly #options: DatabaseOptions;
  readonly #schemas = new Map<string, Schema>();
  readonly #sessions = new Set<Session>();
  #server = 0;
  isUp = true;
  /** By how much the clock of the host is ahead. */
  clockSeconds = 0;
  /** Multiplies the time of statements and commits. */
  slowness = 1;

  constructor(options: DatabaseOptions) {
    this.#options = options;
  }

  tablesOf(schema: string): Tables {
    return this.#schema(schema).tables;
  }

  connect(schema: string, calls: Pick<Session, "onNotification" | "onEnd">): Session {
    const { now } = this.#options.scheduler;
    const found = this.#schema(schema);
    const server = this.#server;
    const state = { isOpen: true, isRunning: false, idleSince: now };
    const session: Session = { schema: found, server, ...state, ...calls };
    this.#sessions.add(session);
    return session;
  }

  /** The client has closed the connection, or is gone. */
  disconnect(session: Session): void {
    if (!session.isOpen) return;
    session.isOpen = false;
    this.#sessions.delete(session);
    if (!session.isRunning) this.#rollBack(session);
  }

  /** Runs a statement at the end of its time; one that is late is cancelled. `respond` is called
   *  when it is done, but never after the session's end. */
  execute(session: Session, statement: Statement, isLate: boolean, respond: Respond): void {
    const { scheduler } = this.#options;
    if (!session.isOpen) return;
    if (session.transaction !== undefined && this.#isIdleTooLong(session)) {
      return this.#terminate(session);
    }
    session.isRunning = true;
    const answer: Respond = (result) => {
      session.isRunning = false;
      session.idleSince = scheduler.now;
      if (session.transaction !== undefined && result instanceof Error) {
        session.transaction.hasFailed = true;
      }
      if (!session.isOpen) return this.#rollBack(session);
      if (session.transaction?.isWriting === true) this.#awaitIdle(session);
      respond(result);
    };
    if (isLate) answer(timedOut());
    else this.#run(session, statement, answer);
  }

  /** How long the next statement takes, beside waiting for the lock and the flush. */
  statementTime(): { readonly microseconds: number; readonly isLate: boolean } {
    const time = this.#time(this.#options.statementMicroseconds);
    const isLate = time > statementMicrosecondsMax;
    return { microseconds: Math.min(time, statementMicrosecondsMax), isLate };
  }

  /** The standby takes over: all connections are lost. What was being committed may be lost. */
  failOver(): void {
    const { random } = this.#options.scheduler;
    for (const schema of this.#schemas.values()) {
      if (schema.flushing !== undefined && random.chance(0.5)) schema.tables = schema.flushing;
      schema.flushing = undefined;
      schema.holder = undefined;
      schema.waiting = [];
    }
    for (const session of this.#sessions) {
      session.isOpen = false;
      session.onEnd();
    }
    this.#sessions.clear();
    this.#server += 1;
  }

  #schema(name: string): Schema {
    const found = this.#schemas.get(name) ?? new Schema();
    this.#schemas.set(name, found);
    return found;
  }

  #time([low, high]: readonly [number, number]): number {
    return this.#options.scheduler.between(low, high) * this.slowness;
  }

  #run(session: Session, { name, text, values }: Statement, respond: Respond): void {
    const { schema } = session;
    const tables = session.transaction?.tables ?? schema.tables;
    if (session.transaction?.hasFailed === true && text !== "COMMIT") {
      return respond(databaseError("25P02", "current transaction is aborted"));
    }
    if (name === "get") return respond({ rows: [...rowsByKey(tables, values)] });
    if (name === "scan_forward" || name === "scan_backward") {
      return respond({ rows: scanRows(tables, values, name === "scan_backward") });
    }
    if (name === "prefetch_keys" || name === "prefetch") {
      return respond({ rows: this.#prefetch(tables, values) });
    }
    if (name === "commit") return this.#commitBatch(session, values, respond);
    if (text.startsWith("BEGIN")) return this.#begin(session, text, respond);
    if (text === "COMMIT") return this.#commit(session, respond);
    if (text.startsWith("LISTEN")) {
      session.notify = session.onNotification;
      return respond(done);
    }
    this.#runOther(session, text, values, respond);
  }

  /** Statements of the start of a node, and rare ones. */
  #runOther(session: Session, text: string, values: readonly Value[], respond: Respond): void {
    const { schema } = session;
    if (text.startsWith("SELECT version")) return respond({ rows: schema.format });
    if (text.startsWith("INSERT INTO format")) {
      schema.format = [{ version: String(values[0]), oldest_reader: String(values[1]) }];
      return respond(done);
    }
    if (withoutEffect.test(text) || text === "DELETE FROM format") return respond(done);
    if (text.startsWith("SELECT ticks, clock_shift")) {
      const { ticks, clockShift } = schema.tables;
      const clock = this.#storeTime(schema.tables, this.#options.scheduler.now);
      return respond({ rows: [{ ticks: String(ticks), shift: String(clockShift), clock }] });
    }
    if (text.startsWith("SELECT FROM given_up")) {
      return respond({
        ...done,
        rowCount: batchRules.isFenced(schema.tables, String(values[0])) ? 1 : 0,
      });
    }
    const [value, seen] = values;
    const change = (tables: Tables): Tables => {
      if (text === "SELECT give_up($1)") {
        return { ...tables, fenced: new Set([...tables.fenced, String(value)]) };
      }
      if (text.startsWith("UPDATE state SET sequence")) {
        return { ...tables, sequence: Math.max(tables.sequence, Number(value)) };
      }
      if (text.startsWith("UPDATE state SET clock_shift = 0")) {
        const mayReset = this.#clockAt(this.#options.scheduler.now) > tables.ticks;
        return mayReset && tables.clockShift !== 0n ? { ...tables, clockShift: 0n } : tables;
      }
      if (text.startsWith("UPDATE state SET clock_shift")) {
        const { clockShift } = tables;
        if (clockShift !== BigInt(String(seen))) return tables;
        return { ...tables, clockShift: clockShift - BigInt(String(value)) };
      }
      // No run has the transactions after which batches are removed.
      if (text.startsWith("DELETE FROM batch")) return tables;
      throw new Error(`the model of the database does not know: ${text}`);
    };
    this.#underLock(session, respond, () => {
      const changed = change(schema.tables);
      const rowCount = changed === schema.tables ? 0 : 1;
      this.#flush(session, changed, () => respond({ ...done, rowCount }));
    });
  }

  #clockAt(now: number): bigint {
    return ticksAt(now + this.clockSeconds * microsecondsPerSecond);
  }

  #storeTime({ clockShift }: Tables, now: number): string {
    return String(this.#clockAt(now) + clockShift);
  }

  #begin(session: Session, text: string, respond: Respond): void {
    const { schema } = session;
    if (text === "BEGIN") {
      session.transaction = { tables: schema.tables, isWriting: false, hasFailed: false };
      return respond(done);
    }
    const { now, random } = this.#options.scheduler;
    const start = (isWriting: boolean, clockAt: number): void => {
      const { tables } = schema;
      session.transaction = { tables, isWriting, hasFailed: false };
      const header = {
        sequence: String(tables.sequence),
        ticks: String(tables.ticks),
        clock: this.#storeTime(tables, clockAt),
      };
      respond([done, { rows: [header] }]);
    };
    if (!text.endsWith("FOR UPDATE")) return start(false, now);
    // The database may read its clock before it waits for the lock.
    const isEarly = random.chance(0.5);
    this.#underLock(session, respond, () => {
      start(true, isEarly ? now : this.#options.scheduler.now);
    });
  }

  #commit(session: Session, respond: Respond): void {
    const { transaction } = session;
    session.transaction = undefined;
    if (transaction?.isWriting !== true) return respond(done);
    if (transaction.hasFailed) {
      this.#unlock(session);
      return respond(done);
    }
    this.#flush(session, transaction.tables, () => respond(done));
  }

  #commitBatch(session: Session, values: readonly Value[], respond: Respond): void {
    const { schema, transaction } = session;
    const apply = (before: Tables) => {
      try {
        return commitBatch(before, values);
      } catch (error) {
        return error as Error;
      }
    };
    if (transaction !== undefined) {
      const applied = apply(transaction.tables);
      if (applied instanceof Error) return respond(applied);
      transaction.tables = applied.tables;
      return respond({ rows: [applied.row] });
    }
    this.#underLock(session, respond, () => {
      const applied = apply(schema.tables);
      if (applied instanceof Error) {
        this.#unlock(session);
        return respond(applied);
      }
      const answer = () => respond({ rows: [applied.row] });
      this.#flush(session, applied.tables, answer, String(values[0]));
    });
  }

  /** Calls `run` when the session has the lock. */
  #underLock(session: Session, respond: Respond, run: () => void): void {
    const { schema } = session;
    if (schema.holder === undefined || schema.holder === session) {
      schema.holder = session;
      return run();
    }
    const request: LockRequest = { session, run, isGone: false };
    schema.waiting.push(request);
    this.#options.scheduler.schedule(statementMicrosecondsMax, () => {
      if (request.isGone || !schema.waiting.includes(request)) return;
      schema.waiting = schema.waiting.filter((each) => each !== request);
      respond(timedOut());
    });
  }

  #unlock({ schema }: Session): void {
    const next = schema.waiting.shift();
    schema.holder = next?.session;
    if (next === undefined) return;
    next.isGone = true;
    next.run();
  }

  /** Makes a change durable on both servers, and then visible. */
  #flush(session: Session, tables: Tables, then: () => void, by = ""): void {
    const { schema } = session;
    const isEmpty = tables === schema.tables;
    const server = this.#server;
    const complete = (): void => {
      if (server !== this.#server) return;
      schema.flushing = undefined;
      schema.tables = tables;
      if (!isEmpty) this.#options.conditions.moments.reach("commit applied");
      if (!isEmpty) this.#notify(schema, `${tables.sequence} ${by}`);
      this.#unlock(session);
      then();
    };
    if (isEmpty) return complete();
    schema.flushing = tables;
    this.#options.conditions.moments.reach("commit begun");
    const { scheduler, flushMicroseconds } = this.#options;
    scheduler.schedule(this.#time(flushMicroseconds), complete);
  }

  #notify(schema: Schema, payload: string): void {
    for (const session of this.#sessions) {
      if (session.schema === schema) session.notify?.(payload);
    }
  }

  #rollBack(session: Session): void {
    const { transaction, schema } = session;
    session.transaction = undefined;
    if (transaction?.isWriting === true && schema.holder === session) this.#unlock(session);
  }

  #isIdleTooLong({ idleSince }: Session): boolean {
    return this.#options.scheduler.now - idleSince > idleMicrosecondsMax;
  }

  /** A transaction that holds the lock and waits for a client that has gone is ended. */
  #awaitIdle(session: Session): void {
    this.#options.scheduler.schedule(idleMicrosecondsMax + 1, () => {
      const isIdle = session.isOpen && !session.isRunning && session.transaction !== undefined;
      if (isIdle && this.#isIdleTooLong(session)) this.#terminate(session);
    });
  }

  #terminate(session: Session): void {
    this.disconnect(session);
    session.onEnd();
  }

  #prefetch(tables: Tables, values: readonly Value[]): Rows {
    const { sequence, ticks } = tables;
    const clock = this.#storeTime(tables, this.#options.scheduler.now);
    const rows: unknown[][] = [[0, String(sequence), String(ticks), clock, null, null, null]];
    for (const [place, stamp, value] of rowsByKey(tables, values)) {
      rows.push([1, place, stamp, null, null, null, value]);
    }
    if (values.length === 2) return rows;
    const [limits, skips, prefixes] = [
      numbersIn(values[6]),
      numbersIn(values[7]),
      textsIn(values[8]),
    ];
    for (const [index, bounds] of boundsIn(values.slice(2, 6)).entries()) {
      const place = String(index + 1);
      const skip = skips[index]!;
      for (const entry of treeScan(tables.entries, { ...bounds, reverse: false }, limits[index]!)) {
        rows.push([2, place, ...prefetchColumns(entry)]);
        if (skip === 0) continue;
        const target = entryAt(tables, prefixes[index]! + headOf(entry.text).slice(skip), "");
        if (target !== undefined) rows.push([3, place, ...prefetchColumns(target)]);
      }
    }
    return rows;
  }
}

const headBytesMax = 2000;

function headOf(text: string): string {
  return text.slice(0, headBytesMax);
}

function prefetchColumns(entry: VersionedEntry): unknown[] {
  const [head, tail, stamp, value] = scanRow(entry);
  return [stamp, null, head, tail, value];
}

function scanRow({ text, value, revision }: VersionedEntry) {
  const [head, tail] = [headOf(text), text.slice(headBytesMax)];
  return [
    Buffer.from(head, "latin1"),
    Buffer.from(tail, "latin1"),
    String(revision),
    Buffer.from(value),
  ] as const;
}

function* rowsByKey(tables: Tables, values: readonly Value[]) {
  const [heads, digests] = [textsIn(values[0]), textsIn(values[1])];
  for (const [index, head] of heads.entries()) {
    const found = entryAt(tables, head, digests[index]!);
    if (found === undefined) continue;
    yield [String(index + 1), String(found.revision), Buffer.from(found.value)] as const;
  }
}

function scanRows({ entries }: Tables, values: readonly Value[], reverse: boolean): Rows {
  const [start, startTail, end, endTail] = values
    .slice(0, 4)
    .map((value) => (value as Buffer).toString("latin1"));
  const bounds = { start: start! + startTail!, end: end! + endTail!, reverse };
  return treeScan(entries, bounds, Number(values[4])).map(scanRow);
}
