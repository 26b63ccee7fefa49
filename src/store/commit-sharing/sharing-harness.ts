import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach } from "vitest";

import type { Engine } from "../engine.ts";
import { manualClock } from "../manual-clock.ts";
import type { ManualClock } from "../manual-clock.ts";
import { memoryEngine } from "../memory/memory-engine.ts";
import { TransactionalStore } from "../transactional-store.ts";

/** A store of a test, as one process would open it. */
export interface SharingStore {
  readonly store: TransactionalStore;
  /** Numbers of transactions in the commits of the store. */
  readonly commits: number[];
}

/** Several stores on one engine and one socket. */
export interface Sharing {
  readonly engine: Engine;
  readonly clock: ManualClock;
  readonly socket: string;
  /** Opens the engine once more, as another process does. */
  open(owner: number): SharingStore;
  openLeader(): Promise<SharingStore>;
  openFollower(owner?: number): Promise<SharingStore>;
}

/** Returns a function that lets several stores share one engine in memory; they are closed after
 *  each test. */
export function sharingHarness(): (engine?: Engine) => Sharing {
  const folder = mkdtempSync(join(tmpdir(), "sharing-"));
  const stores: TransactionalStore[] = [];
  let count = 0;
  afterEach(async () => {
    for (const store of stores.splice(0).toReversed()) await store.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return (engine = memoryEngine()) => {
    const clock = manualClock();
    count += 1;
    const socket = join(folder, `${count}.socket`);
    const open = (owner: number): SharingStore => {
      const commits: number[] = [];
      const meter = {
        commit: ({ transactions }: { transactions: number }) => {
          commits.push(transactions);
        },
      };
      const store = new TransactionalStore({ engine, clock, owner, meter });
      stores.push(store);
      return { store, commits };
    };
    return {
      engine,
      clock,
      socket,
      open,
      openLeader: async () => {
        const opened = open(1);
        await opened.store.setCommitRole({ kind: "leader", socket });
        return opened;
      },
      openFollower: async (owner = 2) => {
        const opened = open(owner);
        await opened.store.setCommitRole({ kind: "follower", socket });
        return opened;
      },
    };
  };
}
