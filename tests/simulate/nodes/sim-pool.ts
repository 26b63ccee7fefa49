import { EventEmitter } from "node:events";
import type pg from "pg";
import type { Connections, openConnections } from "../../../src/store/postgres/connections.ts";
import { count, type Conditions, type FaultCounts, type FaultRates } from "../faults.ts";
import type { Scheduler } from "../scheduler.ts";
import { microsecondsPerSecond, type SimProcess } from "../sim-process.ts";
import type { Result, Session, SimDatabase, Statement } from "./sim-database.ts";
import type { Value } from "./tables.ts";

/** The way between a node and the database. */
export interface DatabaseLink {
  readonly database: SimDatabase;
  readonly process: SimProcess;
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly counts: FaultCounts;
  readonly networkMicroseconds: readonly [number, number];
  /** Until when nothing gets through: it arrives then. */
  readonly blockedUntil: () => number;
}

const connectMicrosecondsMax = 5 * microsecondsPerSecond;
const responseMicrosecondsMax = 15 * microsecondsPerSecond;
/** After this time the system of a node finds that the other end of a connection has vanished. */
const probedMicrosecondsMax = 15 * microsecondsPerSecond;
const writersMax = 2;
const lookupsMax = 2;
/** By how much a message of a stalled connection is late at most. */
const lateMicrosecondsMax = 30 * microsecondsPerSecond;

/** Connects a node to the simulated database, with pools as the driver has them. */
export function simConnections(link: DatabaseLink): typeof openConnections {
  return ({ schema, readersMax }): Connections => {
    const newPool = (max: number): SimPool => new SimPool(link, schema, max);
    const pools = [newPool(readersMax), newPool(lookupsMax), newPool(writersMax)] as const;
    const [readers, lookups, writers] = pools.map((pool) => pool as unknown as pg.Pool);
    return {
      readers: readers!,
      lookups: lookups!,
      writers: writers!,
      newListener: () => new SimClient(link, schema) as unknown as pg.Client,
      close: async () => void (await Promise.all(pools.map((pool) => pool.end()))),
    };
  };
}

type Query = string | (Omit<Statement, "values"> & { readonly values?: readonly Value[] });

/** Connections of a node, as `pg.Pool` has them. */
class SimPool {
  readonly #link: DatabaseLink;
  readonly #schema: string;
  readonly #max: number;
  readonly #idle: SimClient[] = [];
  readonly #waiting: ((client: SimClient | Error) => void)[] = [];
  #size = 0;
  #hasEnded = false;

  constructor(link: DatabaseLink, schema: string, max: number) {
    this.#link = link;
    this.#schema = schema;
    this.#max = max;
  }

  async query(query: Query, values?: readonly Value[]): Promise<Result> {
    const client = await this.connect();
    try {
      const result = await client.query(query, values);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  async connect(): Promise<SimClient> {
    if (this.#hasEnded) throw new Error("Cannot use a pool after calling end on the pool");
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isOpen) return idle;
      this.#size -= 1;
    }
    return this.#size < this.#max ? this.#open() : this.#wait();
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const client of this.#idle.splice(0)) client.close();
  }

  async #open(): Promise<SimClient> {
    this.#size += 1;
    const client = new SimClient(this.#link, this.#schema, (isBroken) => {
      if (!isBroken && client.isOpen && !this.#hasEnded) return this.#reuse(client);
      client.close();
      this.#size -= 1;
      this.#replace();
    });
    try {
      await client.connect();
      return client;
    } catch (error) {
      this.#size -= 1;
      this.#replace();
      throw error;
    }
  }

  #reuse(client: SimClient): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(client);
    else next(client);
  }

  /** Opens a connection for the next waiting caller, if there is room again. */
  #replace(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#openFor(next);
  }

  async #openFor(take: (client: SimClient | Error) => void): Promise<void> {
    take(await this.#open().catch((error: unknown) => error as Error));
  }

  #wait(): Promise<SimClient> {
    const { scheduler, process } = this.#link;
    return new Promise((resolve, reject) => {
      const take = (client: SimClient | Error): void => {
        cancel();
        if (client instanceof Error) reject(client);
        else resolve(client);
      };
      this.#waiting.push(take);
      const cancel = scheduler.schedule(
        connectMicrosecondsMax,
        () => {
          const place = this.#waiting.indexOf(take);
          if (place < 0) return;
          this.#waiting.splice(place, 1);
          reject(new Error("timeout exceeded when trying to connect"));
        },
        process,
      );
    });
  }
}

type Fate = "fine" | "lost request" | "lost response" | "stalled";

/** A connection of a node, as `pg.Client` and `pg.PoolClient` have them. */
class SimClient extends EventEmitter {
  readonly #link: DatabaseLink;
  readonly #schema: string;
  readonly release: (isBroken?: boolean | Error) => void;
  isOpen = false;
  #session: Session | undefined;
  #running: ((result: Result) => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #toDatabaseAt = 0;
  #toNodeAt = 0;

  constructor(link: DatabaseLink, schema: string, onRelease?: (isBroken: boolean) => void) {
    super();
    this.#link = link;
    this.#schema = schema;
    this.release = (isBroken) => onRelease?.(isBroken !== undefined && isBroken !== false);
  }

  connect(): Promise<this> {
    const { database, process, scheduler } = this.#link;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const cancel = this.#after(connectMicrosecondsMax, () => {
        isLate = true;
        reject(new Error("timeout expired"));
      });
      const connected = (session: Session | undefined): void => {
        if (isLate) return this.#disconnect();
        cancel();
        if (session === undefined) return reject(new Error("connect ECONNREFUSED"));
        this.isOpen = true;
        resolve(this);
      };
      scheduler.schedule(this.#delay(), () => {
        if (!process.isAlive) return;
        const session = database.isUp ? this.#connectSession() : undefined;
        this.#session = session;
        this.#deliver(() => connected(session));
      });
    });
  }

  #connectSession(): Session {
    const { database, process } = this.#link;
    const session = database.connect(this.#schema, {
      onNotification: (payload) => this.#deliver(() => void this.emit("notification", { payload })),
      // Some connections end with a message; that others have ended shows when they are probed,
      // or when a statement has no response.
      onEnd: () => {
        if (this.#link.scheduler.random.chance(0.8)) return this.#deliver(() => this.#lose());
        this.#after(probedMicrosecondsMax, () => this.#running === undefined && this.#lose());
      },
    });
    process.onKill(() => this.#disconnect());
    return session;
  }

  query(query: Query, values?: readonly Value[]): Promise<Result> {
    const statement: Statement =
      typeof query === "string"
        ? { text: query, values: values ?? [] }
        : { ...query, values: query.values ?? values ?? [] };
    // The driver sends a statement when the one before has ended.
    const result = this.#last.then(() => this.#send(statement));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async end(): Promise<void> {
    this.close();
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#disconnect();
  }

  #disconnect(): void {
    const { database, scheduler } = this.#link;
    const session = this.#session;
    if (session === undefined) return;
    this.#session = undefined;
    scheduler.schedule(this.#orderedDelay(), () => database.disconnect(session));
  }

  /** The connection is lost. */
  #lose(): void {
    if (!this.isOpen) return;
    const error = new Error("Connection terminated unexpectedly");
    this.close();
    this.#running?.(error);
    this.emit("end");
  }

  async #send(statement: Statement): Promise<Result> {
    const { database, scheduler } = this.#link;
    const session = this.#session;
    if (!this.isOpen || session === undefined) throw new Error("Client was closed");
    const fate = this.#fate();
    const result = await new Promise<Result>((resolve) => {
      const settle = (settled: Result): void => {
        cancel();
        this.#running = undefined;
        resolve(settled);
      };
      const cancel = this.#after(responseMicrosecondsMax, () => {
        settle(new Error("Query read timeout"));
      });
      this.#running = settle;
      if (fate === "lost request") return this.#deliver(() => this.#lose());
      if (fate === "stalled") this.#toDatabaseAt = scheduler.now + this.#lateness();
      const respond = (answer: Result): void => {
        if (fate === "fine") this.#deliver(() => this.#running === settle && settle(answer));
        if (fate === "lost response") this.#deliver(() => this.#lose());
      };
      const { microseconds, isLate } = database.statementTime();
      const execute = (): void => database.execute(session, statement, isLate, respond);
      scheduler.schedule(this.#orderedDelay(microseconds), execute);
    });
    if (result instanceof Error) throw result;
    return result;
  }

  #lateness(): number {
    return this.#link.scheduler.random.below(lateMicrosecondsMax);
  }

  #fate(): Fate {
    const { scheduler, conditions, rates, counts } = this.#link;
    if (!conditions.hasFaults) return "fine";
    const isLost = scheduler.random.chance(rates.lostQuery);
    const isStalled = !isLost && scheduler.random.chance(rates.stalledQuery);
    if (!isLost && !isStalled) return "fine";
    const fate = isStalled ? "stalled" : scheduler.random.pick(["lost request", "lost response"]);
    count(counts, `database: ${fate}`);
    return fate as Fate;
  }

  #delay(): number {
    const { scheduler, networkMicroseconds, blockedUntil } = this.#link;
    const [low, high] = networkMicroseconds;
    return scheduler.between(low, high) + Math.max(0, blockedUntil() - scheduler.now);
  }

  /** The delay of a message to the database; messages of a connection keep their order. */
  #orderedDelay(microsecondsMore = 0): number {
    const { scheduler } = this.#link;
    const arrivesAt = scheduler.now + this.#delay() + microsecondsMore;
    this.#toDatabaseAt = Math.max(this.#toDatabaseAt, arrivesAt);
    return this.#toDatabaseAt - scheduler.now;
  }

  /** Calls `run` in the node when a message of the database arrives. */
  #deliver(run: () => void): void {
    const { scheduler, process } = this.#link;
    this.#toNodeAt = Math.max(this.#toNodeAt, scheduler.now + this.#delay());
    scheduler.schedule(this.#toNodeAt - scheduler.now, run, process);
  }

  #after(microseconds: number, run: () => void): () => void {
    const { scheduler, process } = this.#link;
    return scheduler.schedule(microseconds, run, process);
  }
}
