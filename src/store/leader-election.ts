import { defineTable, internalRecord, recordCodec } from "../encoding/table.ts";
import { ticksPerSecond, type Ticks } from "../base/ticks.ts";
import type { Store } from "./store.ts";

/** Chooses the process that runs a background task (freeing space, for example) when several
 *  processes or server nodes share a store. `data/storage-backends.ts` opens it. Two processes may
 *  both be leader for a moment, so a task must stay correct then: the election only avoids double
 *  work. */

interface LeaderElectionOptions {
  /** A store that is not flushed and is empty after a boot: only running processes matter here. */
  readonly store: Store;
  readonly name: string;
  readonly self: string;
  /** Ids of all running processes that share the store. A leader that is not among them, because it
   *  was killed, is replaced at once. */
  readonly owners: () => Promise<ReadonlySet<string>>;
}

interface LeaderRecord {
  readonly holder: string;
  readonly until: Ticks;
}

/** How long a process stays leader without renewal: another takes over from one that is stuck. */
const term: Ticks = 30n * ticksPerSecond;
/** The leader renews the term when 20 s or less are left, so that it writes only every 10 s. */
const renewalAt: Ticks = 20n * ticksPerSecond;

const leaderTable = defineTable<string, LeaderRecord>({
  name: "leader",
  tag: 0xfc,
  key: (name) => [name],
  codec: recordCodec({ version: 1 }),
  owner: "store",
  ...internalRecord,
  lifetime: "process",
});

/** Returns a function that reports whether this process is the leader. It must be called before
 *  each round of the task, because it also renews the term of 30 s, or takes it over. */
export function openLeaderElection({
  store,
  name,
  self,
  owners,
}: LeaderElectionOptions): () => Promise<boolean> {
  const key = leaderTable.key(name);
  const isGone = async (holder: string): Promise<boolean> => !(await owners()).has(holder);
  return async () => {
    const { found, now } = await store.snapshot(async (view) => {
      const value = await view.get(key);
      return { found: value && leaderTable.codec.decode(value), now: view.now };
    });
    const isOwn = found?.holder === self;
    if (isOwn && found.until - now > renewalAt) return true;
    const isHeld = found !== undefined && !isOwn && found.until > now;
    if (isHeld && !(await isGone(found.holder))) return false;
    return store.transact(async (tx) => {
      const value = await tx.get(key);
      const current = value && leaderTable.codec.decode(value);
      // Another process has become leader since the read.
      if (current?.holder !== found?.holder) return false;
      tx.put(key, leaderTable.codec.encode({ holder: self, until: tx.now + term }));
      return true;
    });
  };
}
