import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Records } from "../../src/operation/records.ts";
import { closeFile } from "../../src/file/filesystem/close.ts";
import { lockStateOf } from "../../src/file/filesystem/lock.ts";
import type { FileReference } from "../../src/file/filesystem/file-reference.ts";
import { Right } from "../../src/file/locks/access.ts";
import { nodes } from "../../src/file/records.ts";
import { nodeById, nodeKeyOf } from "../../src/file/share-tree.ts";
import type { Store, Transaction } from "../../src/store/store.ts";
import {
  expectDone,
  namesIn,
  newDirectory,
  newFile,
  newShare,
  putRange,
  signedUrl,
} from "../harness/file-steps.ts";
import { simFile, type SimFile } from "../harness/sim-file.ts";
import { inForm } from "../harness/long-form.ts";

/** The scheduler decides the order of all transactions and snapshots. */
class Turns {
  scheduler: fc.Scheduler | undefined;

  readonly wrap = (store: Store): Store => ({
    transact: (work, options) =>
      store.transact(async (tx) => {
        await this.#turn();
        return work(this.#hesitant(tx));
      }, options),
    snapshot: async (work) => {
      await this.#turn();
      return store.snapshot(work);
    },
    watch: (prefix, onChange) => store.watch(prefix, onChange),
    raiseSequence: (to) => store.raiseSequence(to),
    close: () => store.close(),
  });

  /** Yields after every read, so that others may commit before the next step. */
  #hesitant(tx: Transaction): Transaction {
    return {
      now: tx.now,
      sequence: tx.sequence,
      get: async (key) => {
        const value = await tx.get(key);
        await this.#turn();
        if (this.scheduler !== undefined) await commitsDone();
        return value;
      },
      range: (bounds) => tx.range(bounds),
      readHead: (bounds) => tx.readHead(bounds),
      put: (key, value) => tx.put(key, value),
      delete: (key) => tx.delete(key),
      add: (counter, delta) => tx.add(counter, delta),
      append: (log, value) => tx.append(log, value),
      peek: (key) => tx.peek(key),
    };
  }

  async #turn(): Promise<void> {
    await this.scheduler?.schedule(Promise.resolve());
  }
}

/** Opens the file exclusively and reads it repeatedly: nothing may change. */
async function holdAlone(world: SimFile): Promise<"kept" | "changed" | "refused"> {
  const request = { path: ["f"], access: Right.readData | Right.writeData, share: 0 };
  const handle = await world.open("share", request);
  if (typeof handle === "string") return "refused";
  const seen = new Set<bigint | undefined>();
  for (let looks = 0; looks < 10; looks += 1) {
    seen.add(await etagOf(world, handle.reference));
    await commitsDone();
  }
  await closeFile(world.runtime, handle.reference, [handle.open]);
  return seen.size === 1 ? "kept" : "changed";
}

/** Decisions reach the store before the next read. */
async function commitsDone(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

function etagOf(world: SimFile, { share, file }: FileReference): Promise<bigint | undefined> {
  return world.store.snapshot(async (view) => {
    const records = new Records(view, world.runtime.content);
    return (await nodeById(records, share.id, file))?.etag;
  });
}

/** A writer that checks the locks first and writes in another transaction. */
async function carelessWrite(world: SimFile, reference: FileReference): Promise<void> {
  const state = await lockStateOf(world.runtime, reference);
  if (state.opens.length > 0) return;
  for (let pause = 0; pause < 6; pause += 1) await commitsDone();
  await world.store.transact(async (tx) => {
    const records = new Records(tx, world.runtime.content);
    const node = await nodeById(records, reference.share.id, reference.file);
    if (node === undefined) return;
    const key = nodes.key(nodeKeyOf(reference.share.id, node));
    tx.put(key, nodes.codec.encode({ ...node, etag: node.etag + 1n }));
  });
}

async function race(
  scheduler: fc.Scheduler,
  write: (world: SimFile, reference: FileReference) => Promise<unknown>,
): Promise<readonly string[]> {
  const turns = new Turns();
  const world = await simFile({ wrap: turns.wrap });
  await newShare(world);
  await newFile(world, "/share/f", "0123456789");
  const probe = await world.open("share", { path: ["f"], access: 0x80, share: 7 });
  if (typeof probe === "string") throw new Error(probe);
  await closeFile(world.runtime, probe.reference, [probe.open]);
  turns.scheduler = scheduler;
  const holders = [holdAlone(world), holdAlone(world)];
  const writers = [write(world, probe.reference), write(world, probe.reference)];
  const all = Promise.all([...holders, ...writers]);
  await scheduler.waitFor(all);
  return Promise.all(holders);
}

describe("6 share modes", () => {
  it("no REST write happens between an exclusive open and its close, in any interleaving", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const seen = await race(scheduler, (world) => putRange(world, "/share/f", 0, "x"));
        expect(seen).not.toContain("changed");
      }),
      { seed: 5, numRuns: inForm(20, 80) },
    );
  });

  it("a writer that checks locks outside its transaction is detected", async () => {
    let caught = 0;
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const seen = await race(scheduler, carelessWrite);
        if (seen.includes("changed")) caught += 1;
      }),
      { seed: 5, numRuns: inForm(20, 80) },
    );
    expect(caught).toBeGreaterThan(0);
  });
});

describe("6 trees", () => {
  it("no file is lost in a directory that is deleted concurrently", async () => {
    for (let round = 0; round < inForm(8, 30); round += 1) {
      const world = await simFile({ seed: round });
      await newShare(world);
      await newDirectory(world, "/share/d");
      const headers = { "x-ms-type": "file", "x-ms-content-length": "0" };
      const [made, gone] = await Promise.all([
        world.send({ method: "PUT", path: "/share/d/f", headers }),
        world.send({ method: "DELETE", path: "/share/d?restype=directory" }),
      ]);
      const codes = [made.code ?? made.status, gone.code ?? gone.status];
      expect([
        [201, "DirectoryNotEmpty"],
        ["ParentNotFound", 202],
      ]).toContainEqual(codes);
    }
  });

  it("two directories that are moved into each other stay reachable from the root", async () => {
    const world = await simFile();
    await newShare(world);
    await newDirectory(world, "/share/a");
    await newDirectory(world, "/share/b");
    const move = (from: string, to: string) =>
      world.send({
        method: "PUT",
        path: `${to}?restype=directory&comp=rename`,
        headers: { "x-ms-file-rename-source": signedUrl(from) },
      });
    const moved = await Promise.all([
      move("/share/a", "/share/b/a"),
      move("/share/b", "/share/a/b"),
    ]);
    expect(moved.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await namesIn(world, "/share")).toHaveLength(1);
  });

  it("64 clients creating one name, and 64 names: each exists once, and every byte is counted", async () => {
    const world = await simFile();
    await newShare(world);
    await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        await newFile(world, "/share/same");
        await newFile(world, `/share/own${index}`, "12345");
      }),
    );
    expect(await namesIn(world, "/share")).toHaveLength(65);
    const path = "/share?restype=share&comp=stats";
    const stats = await expectDone(world.send({ method: "GET", path }));
    expect(stats.body).toContain(`<ShareUsageBytes>${64 * 5}</ShareUsageBytes>`);
  });

  it("concurrent range writes are all kept", async () => {
    const world = await simFile();
    await newShare(world);
    await newFile(world, "/share/f", ".".repeat(64 * 600));
    await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        putRange(
          world,
          "/share/f",
          index * 600,
          String.fromCharCode(65 + (index % 26)).repeat(600),
        ),
      ),
    );
    const { body } = await world.send({ method: "GET", path: "/share/f" });
    expect(body).not.toContain(".");
    expect(body).toHaveLength(64 * 600);
  });
});
