import type { Pool, PoolClient, QueryConfig } from "pg";

import { ticksPerSecond } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { StoreUnavailable } from "../store.ts";
import type { BatchRow } from "./batch.ts";
import { isTransient } from "./unavailable.ts";

export interface SentBatch {
  /** The sequence just before the batch. */
  readonly previous: number;
  /** Places, from one on, of those that read what is no longer so. */
  readonly lost: ReadonlySet<number>;
}

const pauseMillisecondsFirst = 20;
const pauseMillisecondsMax = 1_000;
/** A primary that died is replaced within this, or the callers are told. */
const patience = 15n * ticksPerSecond;

/**
 * Sends a batch until there is an answer. A connection that broke leaves open whether the batch was
 * committed; the database remembers the number of each node's last one, so sending it again either
 * commits it or brings the answer that was lost.
 */
export async function sendBatch(
  { pool, clock, locked }: { pool: Pool; clock: Clock; locked?: PoolClient | undefined },
  query: QueryConfig,
): Promise<SentBatch> {
  const endsAt = clock.monotonic() + patience;
  let pause = pauseMillisecondsFirst;
  let underLock = locked;
  for (;;) {
    try {
      return await sendOnce(underLock, pool, query);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (clock.monotonic() >= endsAt) throw noAnswer(error);
      await new Promise<void>((resolve) => clock.after(pause, resolve));
      pause = Math.min(2 * pause, pauseMillisecondsMax);
      underLock = undefined;
    }
  }
}

async function sendOnce(
  locked: PoolClient | undefined,
  pool: Pool,
  query: QueryConfig,
): Promise<SentBatch> {
  const { rows } = await (locked ?? pool).query<BatchRow>(query);
  if (locked !== undefined) await locked.query("COMMIT");
  const [row] = rows;
  if (row === undefined) throw new Error("the database gave no answer to a batch");
  return { previous: Number(row.sequence_before), lost: new Set(row.lost.map(Number)) };
}

function noAnswer(cause: unknown): StoreUnavailable {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreUnavailable(`the database does not answer: ${reason}`, { cause });
}
