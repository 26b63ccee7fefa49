import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "vitest";

import { storeConformance } from "../conformance.ts";
import { k } from "../conformance/store-steps.ts";
import type { NewStoreOptions } from "../conformance/harness.ts";
import { openLmdbStore } from "../lmdb/open-lmdb-store.ts";
import { silentLog } from "../silent-log.ts";
import type { Store } from "../store.ts";

const folder = mkdtempSync(join(tmpdir(), "follower-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A key that no test writes. A transaction that deletes it is committed and leaves nothing. */
const missing = k("missing");
let count = 0;

interface OpenOptions extends NewStoreOptions {
  readonly volatilePrefix?: Uint8Array;
}

/** Opens a store twice and returns the follower; closing it also closes the leader. */
async function openFollower(options: OpenOptions): Promise<Store> {
  const { follower, leader } = await openBoth(options);
  return closingBoth(follower, leader);
}

/** A follower whose leader commits before each of its transactions, so that it never commits
 *  alone. */
async function openSharing(options: OpenOptions): Promise<Store> {
  const { follower, leader } = await openBoth(options);
  return {
    ...closingBoth(follower, leader),
    transact: async (work, transactOptions) => {
      await leader.transact((tx) => tx.delete(missing));
      return follower.transact(work, transactOptions);
    },
  };
}

async function openBoth(options: OpenOptions) {
  count += 1;
  const location = join(folder, String(count));
  const socket = join(folder, `${count}.socket`);
  const shared = { ...options, location, log: silentLog };
  const leader = await openLmdbStore({ ...shared, owner: 1 });
  await leader.setCommitRole({ kind: "leader", socket });
  const follower = await openLmdbStore({ ...shared, owner: 2 });
  await follower.setCommitRole({ kind: "follower", socket });
  return { follower, leader };
}

function closingBoth(follower: Store, leader: Store): Store {
  return {
    transact: (work, options) => follower.transact(work, options),
    snapshot: (work, options) => follower.snapshot(work, options),
    watch: (prefix, onChange) => follower.watch(prefix, onChange),
    close: async () => {
      await follower.close();
      await leader.close();
    },
  };
}

storeConformance("a commit follower", openSharing);
storeConformance("a commit follower with volatile keys", (options) =>
  openFollower({ ...options, volatilePrefix: k("c").slice(0, -1) }),
);
