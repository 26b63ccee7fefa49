import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "vitest";

import { storeConformance } from "../conformance.ts";
import { silentLog } from "../silent-log.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";

const folder = mkdtempSync(join(tmpdir(), "lmdb-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function newLocation(): string {
  count += 1;
  return join(folder, String(count));
}

storeConformance("the lmdb store", (options) =>
  openLmdbStore({ ...options, location: newLocation(), log: silentLog }),
);
storeConformance("the ephemeral lmdb store", (options) =>
  openLmdbStore({ ...options, location: newLocation(), log: silentLog, ephemeral: true }),
);
