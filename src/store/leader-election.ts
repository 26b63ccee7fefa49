import { recordCodec } from "../encoding/record.ts";
import { defineTable } from "../encoding/table.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Store } from "./store.ts";

export interface DutyOptions {
  /** The ephemeral one. */
  readonly store: Store;
  readonly name: string;
  /** Names this process. */
  readonly self: string;
  /** All that are running now. */
  readonly owners: () => Promise<ReadonlySet<string>>;
}

interface DutyRecord {
  readonly holder: string;
  readonly until: Ticks;
}

const term: Ticks = 30n * ticksPerSecond;
/** Renewed once this much of it is left. */
const renewalAt: Ticks = 20n * ticksPerSecond;

const dutyTable = defineTable<string, DutyRecord>({
  name: "duty",
  tag: 0xfc,
  key: (name) => [name],
  codec: recordCodec({ version: 1 }),
});

/**
 * Work in the background that every process could do and one should: whoever asks is told whether
 * it is the one. The work must stay right if two do it for a moment, as transactions do; a lease
 * only saves them from doing everything twice.
 */
export function openLeaderElection({
  store,
  name,
  self,
  owners,
}: DutyOptions): () => Promise<boolean> {
  const key = dutyTable.key(name);
  const isGone = async (holder: string): Promise<boolean> => !(await owners()).has(holder);
  return async () => {
    const { found, now } = await store.snapshot(async (view) => {
      const value = await view.get(key);
      return { found: value && dutyTable.codec.decode(value), now: view.now };
    });
    const isOurs = found?.holder === self;
    if (isOurs && found.until - now > renewalAt) return true;
    const isHeld = found !== undefined && !isOurs && found.until > now;
    if (isHeld && !(await isGone(found.holder))) return false;
    return store.transact(async (tx) => {
      const value = await tx.get(key);
      const current = value && dutyTable.codec.decode(value);
      // Another one has come first.
      if (current?.holder !== found?.holder) return false;
      tx.put(key, dutyTable.codec.encode({ holder: self, until: tx.now + term }));
      return true;
    });
  };
}
