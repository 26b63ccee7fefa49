import { ticksPerMillisecond } from "../../base/ticks.ts";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { storeConformance } from "../../../tests/harness/store/conformance.ts";
import { k, put, read } from "../../../tests/harness/store/store-steps.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import type { ManualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import type { Store } from "../store.ts";
import { setClockOffset, TransactionalStore } from "../transactional-store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { inForm } from "../../../tests/harness/long-form.ts";

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
for (const name of inForm(["c"], ["a", "c", "r"])) {
  // The common prefix of keys whose first part starts like this.
  const volatilePrefix = k(name).slice(0, -1);
  storeConformance(`the lmdb store with volatile keys from "${name}" on`, (options) =>
    openLmdbStore({ ...options, location: newLocation(), log: silentLog, volatilePrefix }),
  );
}

storeConformance("the lmdb store on a slow disk", async (options) => {
  const location = newLocation();
  mkdirSync(location);
  const engine = new LmdbEngine({ path: join(location, "store.mdb"), noSync: false });
  await setClockOffset(engine, options.clock, true);
  return new TransactionalStore({ ...options, engine });
});

describe("the lmdb store, opened again", () => {
  const open = (options: {
    location: string;
    clock: ManualClock;
    ephemeral?: boolean;
  }): Promise<Store> => openLmdbStore({ ...options, log: silentLog });
  const nowOf = (store: Store): Promise<bigint> => store.snapshot(async (view) => view.now);

  it("contains all committed records", async () => {
    const location = newLocation();
    const first = await open({ location, clock: manualClock() });
    await put(first, k("a"), "1");
    await first.close();
    const second = await open({ location, clock: manualClock("boot-2") });
    expect(await read(second, k("a"))).toBe("1");
    await second.close();
  });

  it("has a time that never decreases, and follows the wall clock after a boot", async () => {
    const location = newLocation();
    const first = await open({ location, clock: manualClock() });
    const committed = await first.transact(async (tx) => {
      tx.put(k("a"), new Uint8Array(1));
      return tx.now;
    });
    await first.close();
    const early = manualClock("boot-2");
    early.jumpWall(-1000);
    const second = await open({ location, clock: early });
    expect(await nowOf(second)).toBe(committed + 1n);
    await second.close();
    const late = manualClock("boot-3");
    late.jumpWall(5000);
    const third = await open({ location, clock: late });
    expect(await nowOf(third)).toBe(late.wall());
    await third.close();
  });

  it("does not follow a changed wall clock within a boot, unless it was wrong by days", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open({ location, clock });
    const before = await nowOf(first);
    await first.close();
    clock.jumpWall(3_600_000);
    clock.advance(10);
    const second = await open({ location, clock });
    expect(await nowOf(second)).toBe(before + 10n * ticksPerMillisecond);
    await second.close();
    clock.jumpWall(48 * 3_600_000);
    const third = await open({ location, clock });
    expect(await nowOf(third)).toBe(clock.wall());
    await third.close();
  });

  it("shares its time with stores opened while it is open", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open({ location, clock });
    clock.jumpWall(9_000_000);
    const second = await open({ location, clock });
    clock.advance(10);
    expect(await nowOf(second)).toBe(await nowOf(first));
    await first.close();
    await second.close();
  });

  it("is empty after a boot if it is ephemeral", async () => {
    const location = newLocation();
    const first = await open({ location, clock: manualClock(), ephemeral: true });
    await put(first, k("a"), "1");
    await first.close();
    const again = await open({ location, clock: manualClock(), ephemeral: true });
    expect(await read(again, k("a"))).toBe("1");
    await again.close();
    const booted = await open({ location, clock: manualClock("boot-2"), ephemeral: true });
    expect(await read(booted, k("a"))).toBeUndefined();
    await booted.close();
    expect(readdirSync(location).filter((name) => name.includes("boot-1"))).toEqual([]);
  });
});
