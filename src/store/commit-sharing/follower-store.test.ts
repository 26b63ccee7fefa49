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

let count = 0;

/** Opens a store twice and returns the follower; closing it also closes the leader. */
async function openFollower(options: NewStoreOptions & { volatilePrefix?: Uint8Array }) {
  count += 1;
  const location = join(folder, String(count));
  const socket = join(folder, `${count}.socket`);
  const shared = { ...options, location, log: silentLog };
  const leader = await openLmdbStore({ ...shared, owner: 1 });
  await leader.setCommitRole({ kind: "leader", socket });
  const follower = await openLmdbStore({ ...shared, owner: 2 });
  await follower.setCommitRole({ kind: "follower", socket });
  return closingBoth(follower, leader);
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

storeConformance("a commit follower", openFollower);
storeConformance("a commit follower with volatile keys", (options) =>
  openFollower({ ...options, volatilePrefix: k("c").slice(0, -1) }),
);
