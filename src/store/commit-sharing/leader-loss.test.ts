import { rmSync } from "node:fs";
import { createServer } from "node:net";
import type { Server } from "node:net";

import { afterEach, describe, expect, it } from "vitest";

import type { BatchResult, CommitBatch } from "../commit-batch.ts";
import { times } from "../conformance/harness.ts";
import { increment, k, put, read } from "../conformance/store-steps.ts";
import { decodeCounter } from "../counter.ts";
import { GroupWriter } from "../group-writer.ts";
import { keyOfText } from "../key-text.ts";
import type { Store } from "../store.ts";
import { recordPosition } from "./batch-record.ts";
import { Connection } from "./connection.ts";
import { readFollowerMessage } from "./messages.ts";
import type { Hello } from "./messages.ts";
import { sharingHarness } from "./sharing-harness.ts";
import type { Sharing } from "./sharing-harness.ts";
import { answerMillisecondsMax } from "./leader-connection.ts";

const newSharing = sharingHarness();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Commits the batch as a leader does. */
type Commit = () => Promise<BatchResult>;
/** What a leader does with a batch. */
type Behaviour = (commit: Commit, connection: Connection, batch: CommitBatch) => void;

/** A leader that never answers: it does with the first batch what the test says. */
async function failingLeader(sharing: Sharing, onBatch: Behaviour): Promise<void> {
  const group = new GroupWriter({ ...sharing, onCommitted: () => undefined });
  const server = createServer((socket) => {
    let hello: Hello | undefined;
    const connection = new Connection(socket, {
      onFrame: (content) => {
        const message = readFollowerMessage(content, hello);
        if (message.kind === "hello") hello = message;
        else if (message.kind === "batch") {
          onBatch(() => group.write(message.batch), connection, message.batch);
        }
      },
      onClose: () => undefined,
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(sharing.socket, resolve);
  });
}

const addOne = (store: Store): Promise<void> =>
  store.transact(async (tx) => tx.add(k("count"), 1n));
const countOf = (store: Store): Promise<bigint> =>
  store.snapshot(async (view) => decodeCounter(await view.get(k("count"))));

describe("a follower that loses its leader", () => {
  it("before the commit applies its batch once", async () => {
    const sharing = newSharing();
    await failingLeader(sharing, (_, connection) => connection.destroy());
    const { store, commits } = await sharing.openFollower();
    await times(20, () => addOne(store));
    expect(await countOf(store)).toBe(20n);
    expect(commits.length).toBeGreaterThan(0);
  });

  it("after the commit and before the answer applies its batch once", async () => {
    const sharing = newSharing();
    await failingLeader(sharing, (commit, connection) => {
      void commit().then(() => connection.destroy());
    });
    const { store, commits } = await sharing.openFollower();
    await times(20, () => addOne(store));
    expect(await countOf(store)).toBe(20n);
    expect(commits).toEqual([]);
  });

  it("after the commit of a part of its batch retries the rest", async () => {
    const sharing = newSharing();
    const { store: other } = sharing.open(3);
    let droppedCount = 0;
    const commitPart = async (commit: Commit, connection: Connection): Promise<void> => {
      await other.transact((tx) => increment(tx, k("hot")));
      const result = await commit();
      droppedCount = result.kind === "committed" ? result.dropped.size : 0;
      connection.destroy();
    };
    await failingLeader(sharing, (commit, connection) => void commitPart(commit, connection));
    const { store } = await sharing.openFollower();
    await Promise.all([
      ...Array.from({ length: 10 }, () => addOne(store)),
      store.transact((tx) => increment(tx, k("hot"))),
      store.transact((tx) => increment(tx, k("hot"))),
    ]);
    expect(droppedCount).toBe(2);
    expect(await countOf(store)).toBe(10n);
    expect(await read(store, k("hot"))).toBe("3");
  });

  it("keeps a leader that still runs from committing the batch later", async () => {
    const sharing = newSharing();
    const later: Commit[] = [];
    await failingLeader(sharing, (commit, connection) => {
      later.push(commit);
      connection.destroy();
    });
    const { store } = await sharing.openFollower();
    await times(20, () => addOne(store));
    expect(later).toHaveLength(1);
    for (const commit of later) expect(await commit()).toEqual({ kind: "postponed" });
    expect(await countOf(store)).toBe(20n);
  });

  it("commits alone when the leader does not answer for 5 s", async () => {
    const sharing = newSharing();
    let received = (): void => undefined;
    const batch = new Promise<void>((resolve) => {
      received = resolve;
    });
    await failingLeader(sharing, () => received());
    const { store } = await sharing.openFollower();
    const adding = addOne(store);
    await batch;
    sharing.clock.advance(answerMillisecondsMax);
    await adding;
    expect(await countOf(store)).toBe(1n);
  });

  it("connects to the next leader", async () => {
    const sharing = newSharing();
    const { store, commits } = await sharing.openFollower();
    await addOne(store);
    expect(commits).toEqual([1]);
    const leader = await sharing.openLeader();
    sharing.clock.advance(100);
    // The connection is open after some event-loop iterations.
    let alone = 0;
    for (let rounds = 0; commits.length > alone && rounds < 1000; rounds += 1) {
      alone = commits.length;
      await addOne(leader.store);
      await addOne(store);
    }
    expect(commits).toHaveLength(alone);
    expect(leader.commits).toHaveLength(alone + 1);
  });
});

describe("commit roles", () => {
  it("may change while transactions run", async () => {
    const sharing = newSharing();
    const stores = [1, 2, 3].map((owner) => sharing.open(owner).store);
    const ending = new AbortController();
    let count = 0n;
    const writing = stores.flatMap((store) =>
      Array.from({ length: 10 }, async () => {
        while (!ending.signal.aborted) {
          await addOne(store);
          await store.transact((tx) => increment(tx, k("hot")));
          count += 1n;
        }
      }),
    );
    for (let round = 0; round < 30; round += 1) {
      const socket = `${sharing.socket}-${round}`;
      const leader = round % stores.length;
      const roles = stores.map((store, index) =>
        store.setCommitRole({ kind: index === leader ? "leader" : "follower", socket }),
      );
      await Promise.all(roles);
      if (round % 4 === 0) await stores[leader]?.setCommitRole({ kind: "alone" });
      await Promise.all(stores.map((store) => put(store, k("round"), String(round))));
    }
    ending.abort();
    await Promise.all(writing);
    const [store = sharing.open(4).store] = stores;
    expect(await countOf(store)).toBe(count);
    expect(await read(store, k("hot"))).toBe(String(count));
  });
});

describe("batch records", () => {
  it("of ended processes are removed, those of running ones are kept", async () => {
    const sharing = newSharing();
    const ended = recordPosition("4194304-1-0-1", 7);
    await sharing.engine.commit(({ sequence, ticks }) => {
      const write = { ...ended, value: new Uint8Array(9), revision: sequence };
      return { sequence, ticks, writes: [write] };
    });
    await sharing.openLeader();
    const { store } = await sharing.openFollower();
    await addOne(store);
    const view = sharing.engine.open();
    const records = view.scan({ start: "\u0000\u0003", end: "\u0000\u0004", reverse: false }, 10);
    view.close();
    expect(records.map(({ text }) => text.startsWith(`\u0000\u0003${process.pid}-`))).toEqual([
      true,
    ]);
    expect(keyOfText(ended.text)).toEqual(ended.key);
    rmSync(sharing.socket, { force: true });
  });
});
