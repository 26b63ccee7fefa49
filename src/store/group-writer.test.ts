import { expect, it } from "vitest";

import { noAttempts } from "./commit-batch.ts";
import type { BatchResult, CommitBatch, PendingAttempt } from "./commit-batch.ts";
import type { Engine } from "./engine.ts";
import { GroupWriter } from "./group-writer.ts";
import { keyOfText } from "./key-text.ts";
import { manualClock } from "./manual-clock.ts";
import { memoryEngine } from "./memory/memory-engine.ts";
import { WriteSet } from "./write-set.ts";
import type { Change } from "./write-set.ts";

const text = "hot";
const key = keyOfText(text);

/** A batch of a process that has read the key at this revision and writes it. */
function batchOf(owner: number, revision: number): CommitBatch {
  const changes = new WriteSet<Change>();
  changes.set({ kind: "put", key, text, value: new Uint8Array([owner]) });
  const attempt: PendingAttempt = {
    now: 1n,
    changes,
    dependencies: [],
    keyReads: [[text, { key, revision }]],
    rangeReads: [],
  };
  return {
    attempts: [attempt],
    starving: noAttempts,
    sequence: revision,
    owner,
    ignoredOwner: 0,
    mayUseReserve: false,
    conflicts: 0,
  };
}

const isDropped = (result: BatchResult): boolean =>
  result.kind === "committed" && result.dropped.size > 0;

it("commits first for the process that lost the previous conflict", async () => {
  const engine = memoryEngine();
  const group = new GroupWriter({ engine, clock: manualClock(), onCommitted: () => undefined });
  const dropped: boolean[][] = [];
  for (let revision = 0; revision < 4; revision += 1) {
    const results = [1, 2].map((owner) => group.writeLater(batchOf(owner, revision)));
    dropped.push((await Promise.all(results)).map(isDropped));
  }
  expect(dropped).toEqual([
    [false, true],
    [true, false],
    [false, true],
    [true, false],
  ]);
});

/** Commits take this long. */
function slowEngine(advance: () => void): Engine {
  const inner = memoryEngine();
  return {
    ...inner,
    commit: (decide) => {
      advance();
      return inner.commit(decide);
    },
  };
}

it("waits for the processes of the previous commit, half as long as a commit takes", async () => {
  const clock = manualClock();
  const engine = slowEngine(() => clock.advance(100));
  const sizes: number[] = [];
  const group = new GroupWriter({
    engine,
    clock,
    onCommitted: ({ sequence, previous }) => sizes.push(sequence - previous),
  });
  const writeKey = (owner: number): Promise<BatchResult> =>
    group.write({ ...batchOf(owner, 0), attempts: [withoutReads(owner)] });
  await Promise.all([
    group.writeLater({ ...batchOf(1, 0), attempts: [withoutReads(1)] }),
    writeKey(2),
  ]);
  expect(sizes).toEqual([2]);
  const first = writeKey(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sizes).toEqual([2]);
  await Promise.all([first, writeKey(2)]);
  expect(sizes).toEqual([2, 2]);
  const alone = writeKey(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(sizes).toEqual([2, 2]);
  clock.advance(10);
  await alone;
  expect(sizes).toEqual([2, 2, 1]);
  await writeKey(1);
  expect(sizes).toEqual([2, 2, 1, 1]);
});

function withoutReads(owner: number): PendingAttempt {
  const [attempt] = batchOf(owner, 0).attempts as [PendingAttempt];
  return { ...attempt, keyReads: [] };
}
