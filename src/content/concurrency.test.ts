import { expect, test } from "vitest";
import type { ContentRef } from "./content-ref.ts";
import { StoreBusy } from "../store/store.ts";
import { clear, share, write } from "./plan.ts";
import { openContentFixture, pattern, type ContentFixture } from "./testing.ts";

const lanes = 8;
const laneBytes = 40_000;
const stepsPerLane = 40;

/** Each lane owns one stretch of the object, so that the end is known whatever the order. */
async function writeLane(shelf: ContentFixture, lane: number, expected: Uint8Array): Promise<void> {
  const start = lane * laneBytes;
  for (let step = 0; step < stepsPerLane; step += 1) {
    const at = start + ((step * 7919 + lane * 131) % (laneBytes - 600));
    if (step % 5 === 4) {
      await shelf.put("big", (base) => clear(base, { at, length: 500 }));
      expected.fill(0, at, at + 500);
      continue;
    }
    const bytes = pattern(10 + ((step * 37) % 500), step + lane * 1000);
    const received = await shelf.receive(bytes);
    await shelf.put("big", (base) => write(base, at, received));
    shelf.content.discard(received);
    expected.set(bytes, at);
  }
}

/** Snapshots come and go, and every one of them stays as it was. */
async function takeSnapshots(shelf: ContentFixture, lane: number): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    const name = `snapshot-${lane}`;
    await shelf.putFrom("big", name);
    const first = await readPatiently(shelf, name);
    await shelf.put("other", () => share({ kind: "slices", length: 0, slices: [] }));
    const again = await readPatiently(shelf, name);
    expect(Buffer.compare(first, again)).toBe(0);
    if (round % 3 === 2) await shelf.remove(name);
  }
}

async function readPatiently(shelf: ContentFixture, name: string): Promise<Uint8Array> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      return await shelf.read(name);
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
  throw new Error("the view was always too old");
}

async function reclaimMeanwhile(shelf: ContentFixture, running: () => boolean): Promise<void> {
  while (running()) {
    await shelf.content.reclaim();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("writers of one content, its snapshots and reclaiming do not disturb each other", async () => {
  const shelf = await openContentFixture({ extentBytes: 32 * 1024 });
  const expected = new Uint8Array(lanes * laneBytes);
  await shelf.put("big", (base) => ({
    plan: "edit",
    base,
    edits: [{ edit: "resize", length: expected.length }],
  }));
  let running = true;
  const reclaiming = reclaimMeanwhile(shelf, () => running);
  const work = Array.from({ length: lanes }, (_, lane) => [
    writeLane(shelf, lane, expected),
    takeSnapshots(shelf, lane),
  ]);
  await Promise.all(work.flat()).finally(() => {
    running = false;
  });
  await reclaiming;
  expect(((await shelf.get("big")) as ContentRef).kind).toBe("tree");
  expect(Buffer.compare(await shelf.read("big"), expected)).toBe(0);
  for (let lane = 0; lane < lanes; lane += 1) await shelf.remove(`snapshot-${lane}`);
  await shelf.remove("big");
  await shelf.remove("other");
  await shelf.reclaimAll();
  await shelf.content.close();
  await shelf.reclaimAll();
  expect(await shelf.entries()).toBe(0);
});
