import { newLoopShare } from "../../base/loop-share.ts";
import { realClock } from "../../host/world.ts";
import { describe, expect, it } from "vitest";
import { emptyContent } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import type { ContentStore } from "../../content/content.ts";
import { Records } from "../../operation/records.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../../store/memory/open-memory-store.ts";
import type { Store } from "../../store/store.ts";
import { containerNames, tagEntries } from "../indexes.ts";
import { blobs, type BlobRecord } from "../records.ts";
import { searchTags } from "./search-tags.ts";

const account = 1n;
const containers = [10n, 20n, 30n];
const others = 2n;

function record(tags: Readonly<Record<string, string>>): BlobRecord {
  const base = { etag: 1n, created: 1n, headers: {}, metadata: [] };
  return { ...base, type: "BlockBlob", content: emptyContent, tags };
}

/** Blobs with a tag that all have, and a rare one; the last container is of another account. */
async function filled(count: number, rareEvery: number): Promise<Store> {
  const store = openMemoryStore({ clock: manualClock() });
  await store.transact(async (tx) => {
    for (const id of containers) {
      const owner = { account: id === 30n ? others : account, name: `c${id}` };
      const key = containerNames.key({ id, name: owner.name });
      tx.put(key, containerNames.codec.encode(owner));
    }
    for (let index = 0; index < count; index += 1) {
      const container = containers[index % containers.length] ?? 0n;
      const name = `b${String(index).padStart(6, "0")}`;
      const rare = index % rareEvery === 0 ? { rare: "yes" } : {};
      const blob = record({ common: "1", ...rare });
      tx.put(blobs.key({ container, name }), blobs.codec.encode(blob));
      const entries = tagEntries(blob, () => [container, name]);
      for (const { key, value } of entries) tx.put(key, value);
    }
  });
  return store;
}

/** A view that counts what is read through it. */
function counted(view: RecordView) {
  const counter = { read: 0 };
  const counting: RecordView = {
    now: view.now,
    loop: view.loop,
    get: (table, key) => {
      counter.read += 1;
      return view.get(table, key);
    },
    async *scan(table, bounds) {
      for await (const batch of view.scan(table, bounds)) {
        counter.read += batch.length;
        yield batch;
      }
    },
    readHead: (table, bounds) => view.readHead(table, bounds),
    renderCached: (_entry, _form, render) => render()?.text,
    count: (key) => view.count(key),
    slices: (ref, from, length) => view.slices(ref, from, length),
  };
  return { counting, counter };
}

const equal = (name: string, value: string) =>
  ({ kind: "compare", name, operator: "=", value }) as const;

function search(store: Store, terms: readonly ReturnType<typeof equal>[]) {
  return store.snapshot(async (state) => {
    const { counting, counter } = counted(
      new Records(state, { loop: newLoopShare(realClock()) } as ContentStore),
    );
    const place = { account, container: undefined, isHierarchical: false, caller: undefined };
    const request = { ...place, terms, from: undefined, limit: 5000 };
    const { blobs: found } = await searchTags(counting, request);
    return { found: found.length, read: counter.read };
  });
}

describe("the number of index entries a search reads", () => {
  it("depends on the matches, not on the number of blobs", async () => {
    const few = await search(await filled(900, 9), [equal("rare", "yes")]);
    const many = await search(await filled(9000, 90), [equal("rare", "yes")]);
    expect(few.found).toBe(many.found);
    expect(many.read).toBeLessThan(few.read * 1.1);
    expect(many.read).toBeLessThan(400);
  });

  it("does not include the entries of other accounts' containers", async () => {
    const { found, read } = await search(await filled(9000, 90), [equal("common", "1")]);
    expect(found).toBe(5000);
    expect(read).toBeLessThan(5000 * 2 + 2100);
  });

  it("depends on the rarer of two tags", async () => {
    const terms = [equal("common", "1"), equal("rare", "yes")];
    const { found, read } = await search(await filled(9000, 90), terms);
    expect(found).toBe(100);
    expect(read).toBeLessThan(4000);
  });
});
