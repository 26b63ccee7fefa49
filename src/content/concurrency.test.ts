import { expect, test } from "vitest";
import { clear, share, write, type ContentRef } from "./content-ref.ts";
import { StoreBusy } from "../store/store.ts";
import {
  openContentFixture,
  pattern,
  type ContentFixture,
} from "../../tests/harness/content-fixture.ts";

const lanes = 8;
const laneBytes = 40_000;
const stepsPerLane = 40;

/** Each lane writes its own range of the object, so that the final content is known. */
async function writeLane(
  fixture: ContentFixture,
  lane: number,
  expected: Uint8Array,
): Promise<void> {
  const start = lane * laneBytes;
  for (let step = 0; step < stepsPerLane; step += 1) {
    const at = start + ((step * 7919 + lane * 131) % (laneBytes - 600));
    if (step % 5 === 4) {
      await fixture.put("big", (base) => clear(base, { at, length: 500 }));
      expected.fill(0, at, at + 500);
      continue;
    }
    const bytes = pattern(10 + ((step * 37) % 500), step + lane * 1000);
    const received = await fixture.receive(bytes);
    await fixture.put("big", (base) => write(base, at, received));
    fixture.content.discard(received);
    expected.set(bytes, at);
  }
}

/** Creates and deletes snapshots; each must stay unchanged. */
async function takeSnapshots(fixture: ContentFixture, lane: number): Promise<void> {
  for (let round = 0; round < 12; round += 1) {
    const name = `snapshot-${lane}`;
    await fixture.putFrom("big", name);
    const first = await readPatiently(fixture, name);
    await fixture.put("other", () => share({ kind: "slices", length: 0, slices: [] }));
    const again = await readPatiently(fixture, name);
    expect(Buffer.compare(first, again)).toBe(0);
    if (round % 3 === 2) await fixture.remove(name);
  }
}

async function readPatiently(fixture: ContentFixture, name: string): Promise<Uint8Array> {
  for (let attempt = 0; attempt < 10_000; attempt += 1) {
    try {
      return await fixture.read(name);
    } catch (error) {
      if (!(error instanceof StoreBusy)) throw error;
    }
  }
  throw new Error("the view was always too old");
}

async function reclaimMeanwhile(fixture: ContentFixture, running: () => boolean): Promise<void> {
  while (running()) {
    await fixture.content.reclaim();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("concurrent writes, snapshots and reclaiming do not affect each other", async () => {
  const fixture = await openContentFixture({ extentBytes: 32 * 1024 });
  const expected = new Uint8Array(lanes * laneBytes);
  await fixture.put("big", (base) => ({
    plan: "edit",
    base,
    edits: [{ edit: "resize", length: expected.length }],
  }));
  let running = true;
  const reclaiming = reclaimMeanwhile(fixture, () => running);
  const work = Array.from({ length: lanes }, (_, lane) => [
    writeLane(fixture, lane, expected),
    takeSnapshots(fixture, lane),
  ]);
  await Promise.all(work.flat()).finally(() => {
    running = false;
  });
  await reclaiming;
  expect(((await fixture.get("big")) as ContentRef).kind).toBe("tree");
  expect(Buffer.compare(await fixture.read("big"), expected)).toBe(0);
  for (let lane = 0; lane < lanes; lane += 1) await fixture.remove(`snapshot-${lane}`);
  await fixture.remove("big");
  await fixture.remove("other");
  await fixture.reclaimAll();
  await fixture.content.close();
  await fixture.reclaimAll();
  expect(await fixture.entries()).toBe(0);
});
