import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparePaths, splitPath, isWithin, findPath } from "../../src/blob/tree/find-path.ts";
import { applyEffects } from "../../src/operation/apply.ts";
import type { Effect } from "../../src/operation/effects.ts";
import { put, remove } from "../../src/operation/effects.ts";
import { newId } from "../../src/operation/identifiers.ts";
import { Records } from "../../src/operation/records.ts";
import type { RecordView } from "../../src/operation/view.ts";
import { nextETag } from "../../src/protocol/conditions.ts";
import { whole, emptyContent } from "../../src/content/content-ref.ts";
import type { Transaction } from "../../src/store/store.ts";
import { SimTree } from "../harness/sim-tree.ts";
import { accounts } from "../../src/account/account-record.ts";
import { blobs, containers, type BlobRecord } from "../../src/blob/records.ts";
import type { ContainerScope } from "../../src/blob/resources.ts";
import { createParents, newDirectory } from "../../src/blob/tree/create-parents.ts";
import { isDirectoryEmpty, movePath, reclaimBelow } from "../../src/blob/tree/move-path.ts";

type OnWrite = (key: Uint8Array) => void;

/** The operations of both APIs on one tree, as transactions. */
class TreeStore {
  readonly tree: SimTree;
  #container = 0n;

  private constructor(tree: SimTree) {
    this.tree = tree;
  }

  static async open(): Promise<TreeStore> {
    const opened = new TreeStore(await SimTree.open());
    await opened.#transact(async (view) => {
      const account = await view.get(accounts, "devstoreaccount1");
      const key = { account: account?.id ?? 0n, name: "ccc" };
      opened.#container = (await view.get(containers, key))?.id ?? 0n;
      return [];
    });
    return opened;
  }

  async create(path: string, isDirectory: boolean): Promise<boolean> {
    return this.#transact(async (view, tx) => {
      const { random } = this.tree.sim.runtime;
      const found = await findPath(view, this.#container, path);
      const container = { id: this.#container };
      const scope = { container, ...found } as unknown as ContainerScope;
      if ((await view.get(blobs, found.key)) !== undefined) return undefined;
      const times = { newETag: nextETag(tx.now, undefined), now: tx.now };
      const creation = { ...times, newId: () => newId(random) };
      const prepared = createParents(scope, creation as Parameters<typeof createParents>[1]);
      if (prepared?.ok === false) return undefined;
      const { key } = (prepared?.value.scope ?? scope) as ContainerScope;
      const etag = times.newETag;
      const record = isDirectory
        ? newDirectory({ id: newId(random), etag, now: tx.now })
        : fileOf(etag);
      const bytes = { length: 1, pieces: [{ length: 1, source: { bytes: Buffer.from("x") } }] };
      const content = isDirectory ? undefined : whole(bytes);
      return [...(prepared?.value.effects ?? []), put(blobs, key, record, content)];
    });
  }

  async rename(from: string, to: string, onWrite?: OnWrite): Promise<boolean> {
    return this.#transact(async (view) => {
      const source = await findPath(view, this.#container, from);
      const target = await findPath(view, this.#container, to);
      const record = await view.get(blobs, source.key);
      const replaced = await view.get(blobs, target.key);
      const isFree = target.missingParents.length === 0 && replaced === undefined;
      if (record === undefined || !isFree) return undefined;
      if (isWithin(record, target.ancestors)) return undefined;
      const none = { upload: undefined, replacedUpload: undefined };
      return movePath({ from: source.key, to: target.key, record, ...none });
    }, onWrite);
  }

  async remove(path: string): Promise<boolean> {
    return this.#transact(async (view) => {
      const { key } = await findPath(view, this.#container, path);
      const record = await view.get(blobs, key);
      return record && [remove(blobs, key), ...reclaimBelow(record)];
    });
  }

  /** All of the table, the root directory of the container included. */
  async countRecords(): Promise<number> {
    return this.tree.sim.store.snapshot(async (view) => {
      let count = 0;
      for await (const entries of view.range(blobs.range([]))) count += entries.length;
      return count;
    });
  }

  async isEmpty(path: string): Promise<boolean | undefined> {
    let isEmpty: boolean | undefined;
    await this.#transact(async (view) => {
      const { key } = await findPath(view, this.#container, path);
      const id = (await view.get(blobs, key))?.directory;
      isEmpty = id === undefined ? undefined : await isDirectoryEmpty(view, id);
      return [];
    });
    return isEmpty;
  }

  /** Applies the effects that `work` returns; false if it returns none because it may not. */
  async #transact(
    work: (view: RecordView, tx: Transaction) => Promise<readonly Effect[] | undefined>,
    onWrite: OnWrite = () => {},
  ): Promise<boolean> {
    const { store, content } = this.tree.sim.runtime;
    return store.transact(async (tx) => {
      const effects = await work(new Records(tx, content), tx);
      if (effects === undefined) return false;
      await applyEffects(content, observeWrites(tx, onWrite), effects, tx.now);
      return true;
    });
  }
}

function observeWrites(tx: Transaction, onWrite: OnWrite): Transaction {
  return new Proxy(tx, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "put" && name !== "delete" && name !== "add")
        return value.bind(target) as unknown;
      return (key: Uint8Array, ...rest: unknown[]) => {
        onWrite(key);
        return Reflect.apply(value, target, [key, ...rest]) as unknown;
      };
    },
  });
}

function fileOf(etag: bigint): BlobRecord {
  const given = { etag, created: etag, content: emptyContent };
  return { ...given, type: "BlockBlob", headers: {}, metadata: [] };
}

const path = fc
  .array(fc.constantFrom("a", "b", "a-b"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom("file", "directory", "remove"), path }),
  fc.record({ kind: fc.constant("rename"), path, to: path }),
);

/** The paths of a tree, and whether each is a directory. */
type Model = Map<string, boolean>;

function parentsOf(of: string): readonly string[] {
  const names = splitPath(of);
  return names.slice(0, -1).map((_name, at) => names.slice(0, at + 1).join("/"));
}

function createInModel(model: Model, created: string, isDirectory: boolean): boolean {
  const parents = parentsOf(created);
  if (model.has(created) || parents.some((each) => model.get(each) === false)) return false;
  for (const each of parents) model.set(each, true);
  model.set(created, isDirectory);
  return true;
}

function below(model: Model, top: string): readonly string[] {
  return [...model.keys()].filter((each) => each === top || each.startsWith(`${top}/`));
}

function renameInModel(model: Model, from: string, to: string): boolean {
  const hasParents = parentsOf(to).every((each) => model.get(each) === true);
  const isInside = to === from || to.startsWith(`${from}/`);
  if (!model.has(from) || model.has(to) || !hasParents || isInside) return false;
  const moved = below(model, from).map((each) => [each, model.get(each) ?? false] as const);
  for (const [each] of moved) model.delete(each);
  for (const [each, isDirectory] of moved) model.set(to + each.slice(from.length), isDirectory);
  return true;
}

function removeFromModel(model: Model, removed: string): boolean {
  if (!model.has(removed)) return false;
  for (const each of below(model, removed)) model.delete(each);
  return true;
}

function inOrder(model: Model): readonly string[] {
  return [...model.keys()].toSorted((left, right) =>
    comparePaths(splitPath(left), splitPath(right)),
  );
}

describe("a tree", () => {
  it("agrees with a model under creates, renames, deletes and listings", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, pageSize) => {
        const store = await TreeStore.open();
        const model: Model = new Map();
        for (const each of steps) {
          const { kind, path: at } = each;
          if ("to" in each) {
            expect(await store.rename(at, each.to)).toBe(renameInModel(model, at, each.to));
          } else if (kind === "remove") {
            expect(await store.remove(at)).toBe(removeFromModel(model, at));
          } else {
            const isDirectory = kind === "directory";
            const created = createInModel(model, at, isDirectory);
            expect(await store.create(at, isDirectory)).toBe(created);
          }
          const isEmpty = model.get(at) ? below(model, at).length === 1 : undefined;
          expect(await store.isEmpty(at)).toBe(isEmpty);
        }
        const pages = await store.tree.listPages("", pageSize);
        expect(pages.flat()).toEqual(inOrder(model));
        await store.tree.sim.reclaim();
        expect((await store.tree.list()).names).toEqual(inOrder(model));
      },
    );
    await fc.assert(property, { numRuns: 60, seed: 18 });
  });

  it("renames a directory by a constant number of keys, and deletes it by one commit", async () => {
    const writes: number[] = [];
    for (const count of [1, 300]) {
      const store = await TreeStore.open();
      for (let at = 0; at < count; at += 1) await store.create(`from/sub/${at}`, false);
      const written = new Set<string>();
      const note: OnWrite = (key) => written.add(Buffer.from(key).toString("hex"));
      expect(await store.rename("from", "to", note)).toBe(true);
      writes.push(written.size);
      expect((await store.tree.list("&prefix=to/sub/")).names).toHaveLength(count);
      expect((await store.tree.send("GET", "to/sub/0")).body).toBe("x");
      expect((await store.tree.send("GET", "from/sub/0")).code).toBe("BlobNotFound");
      expect(await store.remove("to")).toBe(true);
      expect((await store.tree.list()).names).toEqual([]);
      expect(await store.tree.sim.reclaim()).toBeGreaterThan(1);
      expect(await store.countRecords()).toBe(1);
    }
    expect(writes[0]).toBeLessThanOrEqual(3);
    expect(writes[1]).toBe(writes[0]);
  });
});
