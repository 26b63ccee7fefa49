import type { Pool, PoolClient, QueryConfig } from "pg";

import { ticksPerSecond } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import type { BatchRow } from "./batch.ts";
import { asUnavailable, isTransient } from "./unavailable.ts";

export interface SentBatch {
  /** Sequence before the batch. */
  readonly previous: number;
  /** Numbers, from 1, of the transactions whose read set is invalid. */
  readonly conflicts: ReadonlySet<number>;
}

const pauseMillisecondsFirst = 20;
const pauseMillisecondsMax = 1_000;
/** How long a batch is sent again: time for a failover to another primary. After that its
 *  transactions fail. */
const sendTicksMax = 15n * ticksPerSecond;

/** Sends a batch until there is a response. After a broken connection it is unknown whether the
 *  batch was committed. The database stores the number of each node's last batch, so sending it
 *  again either commits it or returns the lost response. */
export async function sendBatch(
  { pool, clock, locked }: { pool: Pool; clock: Clock; locked?: PoolClient | undefined },
  query: QueryConfig,
): Promise<SentBatch> {
  const endsAt = clock.monotonic() + sendTicksMax;
  let pause = pauseMillisecondsFirst;
  let underLock = locked;
  for (;;) {
    try {
      return await sendOnce(underLock, pool, query);
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (clock.monotonic() >= endsAt) throw asUnavailable(error);
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
  if (row === undefined) throw new Error("commit_batch returned no row");
  return { previous: Number(row.sequence_before), conflicts: new Set(row.lost.map(Number)) };
}
