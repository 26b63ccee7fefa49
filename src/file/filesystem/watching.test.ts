import { describe, expect, it } from "vitest";
import { put, remove } from "../../operation/effects.ts";
import { emptyContent } from "../../content/content-ref.ts";
import { applyEffects } from "../../operation/apply.ts";
import { newLoopShare } from "../../base/loop-share.ts";
import { realClock } from "../../host/world.ts";
import type { Runtime } from "../../operation/work.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../../store/memory/open-memory-store.ts";
import { noticeOf, notices, watchedShares } from "../notices.ts";
import { nodes, type NodeRecord } from "../records.ts";
import { sweepWatchedShares, readNotices, unwatchShare, watchShare } from "./watching.ts";

const share = 7n;
const key = { share, parent: 0n, folded: "FILE" };
const node: NodeRecord = {
  id: 3n,
  parent: 0n,
  name: "file",
  kind: "file",
  etag: 1n,
  since: 1,
  created: 1n,
  lastWrite: 1n,
  change: 1n,
  attributes: 0x20,
  metadata: [],
  content: emptyContent,
};

/** All contents are empty here. */
const content = {
  applyPlan: async () => emptyContent,
  loop: newLoopShare(realClock()),
} as unknown as Runtime["content"];

function newRuntime(): Runtime {
  const clock = manualClock();
  const random = {} as Runtime["random"];
  return { store: openMemoryStore({ clock }), content, clock, random };
}

const write = ({ store }: Runtime, record: NodeRecord | undefined, origin?: string) =>
  store.transact((tx) => {
    const effect = record === undefined ? remove(nodes, key) : put(nodes, key, record);
    return applyEffects(content, tx, [effect], tx.now, { origin });
  });

async function storedRecords({ store }: Runtime): Promise<number> {
  return store.snapshot(async (view) => {
    let count = 0;
    for (const table of [notices, watchedShares]) {
      for await (const entries of view.range(table.range([]))) count += entries.length;
    }
    return count;
  });
}

describe("change notices of a share", () => {
  it("are stored for each watching process except the one that made the change", async () => {
    const runtime = newRuntime();
    await write(runtime, node);
    await watchShare(runtime, share, "left");
    await watchShare(runtime, share, "right");
    await write(runtime, { ...node, attributes: 0x21 }, "right");
    await write(runtime, undefined);
    const left = await readNotices(runtime, share, "left");
    expect(left.map(({ action, aspects }) => [action, ...aspects])).toEqual([
      ["modified", "attributes"],
      ["removed"],
    ]);
    const right = await readNotices(runtime, share, "right");
    expect(right.map(({ action }) => action)).toEqual(["removed"]);
    expect(await readNotices(runtime, share, "left")).toEqual([]);
  });

  it("are not stored for changes that no client can see", () => {
    expect(noticeOf(node, { ...node, etag: 9n })).toBeUndefined();
    expect(noticeOf(node, { ...node, lastWrite: 9n })?.aspects).toEqual(["lastWrite"]);
    expect(noticeOf(node, { ...node, change: 9n })?.aspects).toEqual(["other"]);
  });

  it("are deleted when the watching process unwatches or has ended", async () => {
    const runtime = newRuntime();
    for (const owner of ["leaving", "dead"]) await watchShare(runtime, share, owner);
    await write(runtime, node);
    await unwatchShare(runtime, share, "leaving");
    await sweepWatchedShares(runtime, (owner) => owner !== "dead");
    expect(await storedRecords(runtime)).toBe(0);
  });
});
