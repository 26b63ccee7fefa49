import { newLoopShare } from "../base/loop-share.ts";
import { realClock } from "../host/world.ts";
import { describe, expect, it } from "vitest";
import type { ContentStore } from "../content/content.ts";
import type { ReclaimHandler } from "./service.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { StoreUnavailable } from "../store/store.ts";
import { enqueueJob } from "./reclaim-jobs.ts";
import { reclaimOrPostpone, runReclaimSteps, reclaimStep } from "./reclaim.ts";

/** The records of these tests have no content. */
const content = { loop: newLoopShare(realClock()) } as ContentStore;

async function openJobs(failure: Error) {
  const clock = manualClock();
  const store = openMemoryStore({ clock });
  const done: string[] = [];
  const failures: object[] = [];
  let isBroken = true;
  const first: ReclaimHandler = async () => {
    if (isBroken) throw failure;
    done.push("first");
    return { done: true };
  };
  const second: ReclaimHandler = async () => {
    done.push("second");
    return { done: true };
  };
  const reclaimers = new Map(Object.entries({ first, second }));
  const log = { ...silentLog, error: (fields: object) => void failures.push(fields) };
  for (const kind of ["first", "second"]) {
    await store.transact(async (tx) => enqueueJob(tx, { kind, scope: ["a", 1n] }, tx.now));
    clock.advance(1);
  }
  const parts = { store, content, reclaimers };
  const mend = (): void => {
    isBroken = false;
  };
  return { clock, parts, done, failures, mend, round: () => reclaimOrPostpone(parts, log) };
}

describe("a failing reclaim job", () => {
  it("does not block later jobs and is retried after 5 min", async () => {
    const failure = new Error("fault in a reclaim handler");
    const { clock, done, failures, mend, round } = await openJobs(failure);
    expect(await round()).toBe(true);
    expect(failures).toEqual([{ err: failure, kind: "first", scope: "a/1" }]);
    expect(await round()).toBe(true);
    expect(done).toEqual(["second"]);
    expect(await round()).toBe(false);
    clock.advance(301_000);
    expect(await round()).toBe(true);
    expect(failures.length).toBe(2);
    mend();
    clock.advance(301_000);
    expect(await round()).toBe(true);
    expect(done).toEqual(["second", "first"]);
    expect(await round()).toBe(false);
    clock.advance(301_000);
    expect(await round()).toBe(false);
  });

  it("is not postponed if the store is unavailable", async () => {
    const { done, failures, mend, round } = await openJobs(new StoreUnavailable("disk full"));
    await expect(round()).rejects.toThrow("disk full");
    expect(failures).toEqual([]);
    mend();
    await round();
    expect(done).toEqual(["first"]);
  });

  it("is reported by reclaimStep", async () => {
    const { parts } = await openJobs(new Error("fault in a reclaim handler"));
    await expect(reclaimStep(parts)).rejects.toThrow("fault in a reclaim handler");
  });
});

describe("a background round", () => {
  it("runs several steps, stops when nothing is due, and is bounded", async () => {
    const { parts, done, mend } = await openJobs(new Error("not any more"));
    mend();
    expect(await runReclaimSteps(parts, silentLog)).toBe(true);
    expect(done).toEqual(["first", "second"]);
    expect(await runReclaimSteps(parts, silentLog)).toBe(false);
    let steps = 0;
    const endless: ReclaimHandler = async () => {
      steps += 1;
      return { done: false };
    };
    const reclaimers = new Map([["first", endless]]);
    await parts.store.transact(async (tx) => enqueueJob(tx, { kind: "first", scope: [] }, tx.now));
    expect(await runReclaimSteps({ ...parts, reclaimers }, silentLog)).toBe(true);
    expect(steps).toBe(16);
  });
});
