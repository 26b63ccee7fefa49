import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defineTable, recordCodec } from "../../src/encoding/table.ts";
import {
  whole,
  type ContentPlan,
  type ContentRef,
  type ReceivedBody,
} from "../../src/content/content-ref.ts";
import { manualClock, type ManualClock } from "./manual-clock.ts";
import { openMemoryStore } from "../../src/store/memory/open-memory-store.ts";
import type { Store, View } from "../../src/store/store.ts";
import type { ContentStore, ReceiveOptions } from "../../src/content/content.ts";
import type { ExtentFiles } from "../../src/content/extents/extent-files.ts";
import { memoryFiles } from "../../src/content/extents/memory-files.ts";
import { openContentStore, type ContentOptions } from "../../src/content/open-content.ts";
import { soloHorizons } from "../../src/content/reclaim/pins.ts";
import { identityTag, wholeTables } from "../../src/content/tables.ts";
import { testFiles } from "./test-encryption.ts";
import { silentLog } from "./silent-log.ts";

export interface TestObject {
  readonly content?: ContentRef | undefined;
  readonly name: string;
}

export const testObjects = defineTable<string, TestObject>({
  name: "test-object",
  tag: 0x40,
  key: (name) => [name],
  codec: recordCodec({ version: 1 }),
  owner: "store",
  lifetime: "durable",
  role: "record",
  isArchived: false,
  content: "content",
});

export interface ContentFixture {
  readonly store: Store;
  readonly content: ContentStore;
  readonly clock: ManualClock;
  readonly files: ExtentFiles;
  receive(
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options?: Partial<ReceiveOptions>,
  ): Promise<ReceivedBody>;
  get(name: string): Promise<ContentRef | undefined>;
  /** Applies the plan to the content of the named object. */
  put(name: string, plan: (before: ContentRef) => ContentPlan): Promise<void>;
  /** Shares the content of one object with another, in one transaction. */
  putFrom(source: string, name: string): Promise<void>;
  remove(name: string): Promise<void>;
  read(name: string, range?: { from: number; length: number }): Promise<Uint8Array>;
  /** Runs reclaim rounds until there is nothing left to do. */
  reclaimAll(): Promise<void>;
  /** Number of entries in the content tables, without ids. */
  entries(): Promise<number>;
}

const roundsMax = 200;

interface FixtureOptions extends Partial<ContentOptions> {
  /** Whether the files stay as they are, also with `ETAGERE_TEST_ENCRYPTION=1`: for tests of the
   *  places and lengths of stored bytes, and of files that are encrypted already. */
  readonly areFilesGiven?: boolean;
}

export async function openContentFixture({
  areFilesGiven = false,
  ...options
}: FixtureOptions = {}): Promise<ContentFixture> {
  const clock = manualClock();
  const store = options.store ?? openMemoryStore({ clock });
  const given = options.files ?? memoryFiles({ bytesMax: 2 ** 30 });
  const files = areFilesGiven ? given : testFiles(given);
  const content = await openContentStore({
    clock,
    log: silentLog,
    horizons: soloHorizons("test"),
    contentTables: [testObjects],
    viewAgeMax: 0n,
    observedTicks: 0n,
    ...options,
    store,
    files,
  });
  const fixture = { store, content, clock, files };
  return { ...fixture, ...actions(store, content) };
}

type Planner = (before: ContentRef) => ContentPlan;
type Actions = Omit<ContentFixture, "store" | "content" | "clock" | "files">;

function actions(store: Store, content: ContentStore): Actions {
  const contentAt = async (view: View, name: string): Promise<ContentRef | undefined> => {
    const value = await view.get(testObjects.key(name));
    return value === undefined ? undefined : testObjects.codec.decode(value).content;
  };
  const settle = (name: string, plan: Planner | undefined, source?: string) =>
    store.transact(async (tx) => {
      const key = testObjects.key(name);
      const before = await contentAt(tx, name);
      const base = source === undefined ? before : await contentAt(tx, source);
      const made = plan?.(base ?? { kind: "slices", length: 0, slices: [] });
      const after = await content.applyPlan(tx, key, before, made);
      if (made === undefined) tx.delete(key);
      else tx.put(key, testObjects.codec.encode({ name, content: after }));
    });
  const get = (name: string) => store.snapshot((view) => contentAt(view, name));
  return {
    get,
    receive: (body, options = {}) =>
      content.receive(body instanceof Uint8Array ? once(body) : body, {
        lengthMax: Number.MAX_SAFE_INTEGER,
        inlineBytesMax: 256,
        md5: false,
        crc64: true,
        ...(body instanceof Uint8Array ? { length: body.length } : {}),
        ...options,
      }),
    put: (name, plan) => settle(name, plan),
    putFrom: (source, name) => settle(name, (ref) => ({ plan: "share", ref }), source),
    remove: (name) => settle(name, undefined),
    async read(name, range) {
      const reader = await store.snapshot(async (view) => {
        const ref = await contentAt(view, name);
        if (ref === undefined) throw new Error(`object ${name} does not exist`);
        return content.open(view, ref);
      });
      try {
        return await readAll(reader.read(range?.from ?? 0, range?.length ?? reader.length));
      } finally {
        reader.close();
      }
    },
    async reclaimAll() {
      for (let round = 0; round < roundsMax; round += 1) {
        const more = await content.reclaim();
        if (!more && !(await content.reclaim())) return;
      }
      throw new Error("reclaiming does not end");
    },
    entries: () => countEntries(store),
  };
}

async function countEntries(store: Store): Promise<number> {
  return store.snapshot(async (view) => {
    let count = 0;
    const all = { start: wholeTables.nodes.start, end: Uint8Array.of(identityTag) };
    for await (const entries of view.range(all)) count += entries.length;
    return count;
  });
}

export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const chunk of chunks) copies.push(new Uint8Array(chunk));
  return new Uint8Array(Buffer.concat(copies));
}

/** Pseudo-random bytes that depend on the seed. */
export function pattern(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/** Compares with `Buffer.compare`: comparing large arrays element by element takes seconds. */
export function expectSame(found: Uint8Array, wanted: Uint8Array): void {
  if (Buffer.compare(found, wanted) !== 0) throw new Error("bytes differ");
}

/** A body that identifies itself: its seed, then bytes derived from it. */
export function seededBody(seed: number): Uint8Array {
  const bytes = pattern(2000 + ((seed * 7919) % 30_000), seed);
  new DataView(bytes.buffer).setUint32(0, seed);
  return bytes;
}

/** Checks that the body is complete and returns its seed. */
export function checkSeededBody(bytes: Uint8Array): number {
  const seed = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  expectSame(bytes, seededBody(seed));
  return seed;
}

/** Stores a body as the whole content of an object. */
export async function putBody(
  fixture: ContentFixture,
  name: string,
  bytes: Uint8Array,
): Promise<void> {
  const received = await fixture.receive(bytes);
  await fixture.put(name, () => whole(received));
  fixture.content.discard(received);
}

/** The length of an extent with bodies of these lengths. */
export function storedLength({ layout }: ExtentFiles, lengths: readonly number[]): number {
  const sum = lengths.reduce((total, length) => total + length, 0);
  const regions = layout?.newRegions(2 * sum, false);
  if (regions === undefined) return sum;
  for (const length of lengths) regions.allocate(length);
  return regions.tail;
}

/** Total length of the files in a folder. */
export async function bytesIn(folder: string): Promise<number> {
  let total = 0;
  for (const name of await extentsIn(folder)) total += (await stat(join(folder, name))).size;
  return total;
}

/** Names of the files of extents in a folder, without that of the spare space. */
export async function extentsIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".extent"));
}
