import type { RecordView } from "../../core/view.ts";
import type { DefinedTable } from "../../core/table.ts";
import { isLive } from "../block/uncommitted.ts";
import { blobs, generations, uploads, type BlobRecord } from "../records.ts";
import { NameCursor } from "./name-cursor.ts";

export interface Selection {
  readonly container: bigint;
  readonly prefix: string;
  readonly delimiter: string;
  /** Name, and below it the generation, to start from. */
  readonly from: readonly string[] | undefined;
  readonly limit: number;
  readonly snapshots: boolean;
  readonly versions: boolean;
  readonly deleted: boolean;
  readonly uncommitted: boolean;
}

export type Listed =
  | { readonly kind: "blob"; readonly name: string; readonly record: BlobRecord }
  | { readonly kind: "uncommitted"; readonly name: string }
  | { readonly kind: "prefix"; readonly name: string };

export interface Page {
  readonly entries: readonly Listed[];
  /** Where the next page starts; undefined at the end. */
  readonly next: readonly string[] | undefined;
}

/** One page in the order of names; below each name its earlier states, oldest first, then the
 *  blob itself. The cost is that of the page: a prefix that is rolled up is jumped over. */
export async function scanBlobs(view: RecordView, selection: Selection): Promise<Page> {
  const sources = openSources(view, selection);
  const entries: Listed[] = [];
  for (;;) {
    const found = await nearest(sources);
    if (found === undefined) return { entries, next: undefined };
    const rolled = rolledUp(found.name, selection);
    const listed = rolled === undefined ? await found.source.list(view) : rolled;
    if (listed !== undefined && entries.length >= selection.limit) {
      return { entries, next: rolled === undefined ? found.place : [found.name] };
    }
    if (listed !== undefined) entries.push(listed);
    if (rolled === undefined) found.source.step();
    else for (const source of sources) source.skipPast(rolled.name);
  }
}

interface Source {
  readonly peek: () => Promise<Found | undefined>;
  readonly list: (view: RecordView) => Promise<Listed | undefined>;
  readonly step: () => void;
  readonly skipPast: (prefix: string) => void;
}

interface Found {
  readonly name: string;
  /** What a marker must say to start here. */
  readonly place: readonly string[];
  readonly source: Source;
}

/** The first in name order; of equal names the source that was opened first. */
async function nearest(sources: readonly Source[]): Promise<Found | undefined> {
  let best: Found | undefined;
  for (const source of sources) {
    const found = await source.peek();
    if (found === undefined) continue;
    if (best === undefined || comesBefore(found.name, best.name)) best = found;
  }
  return best;
}

/** The order of keys, which is that of UTF-8. */
function comesBefore(left: string, right: string): boolean {
  return left !== right && Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}

function rolledUp(name: string, { prefix, delimiter }: Selection) {
  if (delimiter === "") return undefined;
  const at = name.indexOf(delimiter, prefix.length);
  if (at < 0) return undefined;
  return { kind: "prefix", name: name.slice(0, at + delimiter.length) } as const;
}

function openSources(view: RecordView, selection: Selection): readonly Source[] {
  const { snapshots, versions, deleted, uncommitted } = selection;
  const sources: Source[] = [];
  if (snapshots || versions || deleted) {
    sources.push(
      openSource(view, generations, selection, (name, record) => {
        const shown = isShown(record, selection);
        return shown ? { kind: "blob", name, record } : undefined;
      }),
    );
  }
  sources.push(
    openSource(view, blobs, selection, (name, record) => ({ kind: "blob", name, record })),
  );
  if (uncommitted) {
    sources.push(
      openSource(view, uploads, selection, async (name, upload) => {
        if (!isLive(upload, view.now)) return undefined;
        const committed = await view.get(blobs, { container: selection.container, name });
        return committed === undefined ? { kind: "uncommitted", name } : undefined;
      }),
    );
  }
  return sources;
}

function isShown(record: BlobRecord, { snapshots, versions, deleted }: Selection): boolean {
  if (record.deleted !== undefined) return deleted;
  return record.snapshot === undefined ? versions : snapshots;
}

function openSource<K, R>(
  view: RecordView,
  table: DefinedTable<K, R>,
  { container, prefix, from, limit }: Selection,
  list: (name: string, record: R) => Listed | undefined | Promise<Listed | undefined>,
): Source {
  const within = table.range([container], prefix);
  const cursor = new NameCursor(view, table, within, limit + 1);
  if (from !== undefined) cursor.seek(startOf(table, container, from));
  const source: Source = {
    peek: async () => {
      const entry = await cursor.peek();
      return entry && { name: entry.name, place: placeOf(table, entry.key), source };
    },
    list: async () => {
      const entry = await cursor.peek();
      return entry && list(entry.name, entry.record);
    },
    step: () => cursor.step(),
    skipPast: (rolled) => cursor.seek(table.range([container], rolled).end),
  };
  return source;
}

/** Generations of a name come before the blob itself, so a marker must say which it means:
 *  the name and then `base`, or the time and kind of a generation. */
function placeOf<K, R>(table: DefinedTable<K, R>, key: Uint8Array): readonly string[] {
  const [, name, ...generation] = table.parts(key);
  const below = table.tag === generations.tag ? generation.map(String) : ["base"];
  return [name as string, ...below];
}

function startOf<K, R>(
  table: DefinedTable<K, R>,
  container: bigint,
  [name = "", at, kind]: readonly string[],
): Uint8Array {
  if (table.tag !== generations.tag || at === undefined) return table.prefix([container, name]);
  if (at === "base") return table.range([container, name]).end;
  if (!/^\d{1,19}$/.test(at)) return table.prefix([container, name]);
  return table.prefix([container, name, BigInt(at), Number(kind ?? 0)]);
}
