import { decodeKey } from "../../encoding/key-decoding.ts";
import { encodeKey } from "../../encoding/keys.ts";
import type { DefinedTable } from "../../encoding/table.ts";
import type { TagComparison, Tags } from "../../protocol/tags.ts";
import type { RecordView } from "../../operation/view.ts";
import { allTags, containerNames, containerTags } from "../indexes.ts";
import type { EmptyRecord, TagKey } from "../indexes.ts";
import { findBlob } from "../shared/find-blob.ts";
import { matchedTags, planSearch, valueBounds } from "./search-plan.ts";
import { TagCursor } from "./tag-cursor.ts";

/** A search for blobs by their tags. */
export interface Search {
  readonly account: bigint;
  /** The container to search in; undefined for all containers of the account. */
  readonly container: { readonly id: bigint; readonly name: string } | undefined;
  readonly terms: readonly TagComparison[];
  /** Where to continue: the rest of an index key after the tag and value, in Base64. Undefined: at
   *  the start. */
  readonly from: string | undefined;
  readonly limit: number;
}

export interface TaggedBlob {
  readonly container: string;
  readonly name: string;
  readonly tags: Tags;
}

export interface SearchPage {
  readonly blobs: readonly TaggedBlob[];
  readonly next: string | undefined;
}

/** Most index entries that a page reads. A page that reaches the limit is short and has a
 *  continuation. */
const examinedMax = 20_000;
/** A byte that is greater than the first byte of every key part. */
const pastEverything = 0xff;
type Cursor = TagCursor<TagKey, EmptyRecord>;

/** Reads one page of the blobs whose tags satisfy all terms. */
export async function searchTags(view: RecordView, search: Search): Promise<SearchPage> {
  const cursors = openCursors(view, search);
  const names = new ContainerNames(view, search);
  const blobs: TaggedBlob[] = [];
  for (;;) {
    const suffix = await nextCommonSuffix(cursors);
    if (suffix === undefined) return { blobs, next: undefined };
    if (blobs.length >= search.limit || countExamined(cursors) > examinedMax) {
      return { blobs, next: Buffer.from(suffix).toString("base64") };
    }
    const position = positionOf(suffix, search);
    const container = await names.of(position.container);
    if (container === undefined) {
      for (const cursor of cursors) cursor.seek(position.pastContainer);
      continue;
    }
    const found = await matching(view, search, position);
    if (found !== undefined) blobs.push({ container, name: position.name, tags: found });
    cursors[0]?.step();
  }
}

function openCursors(view: RecordView, search: Search): readonly Cursor[] {
  const plan = planSearch(search.terms);
  if (plan === undefined) return [];
  const { container, from } = search;
  const table: DefinedTable<TagKey, EmptyRecord> =
    container === undefined ? allTags : containerTags;
  const above = container === undefined ? [] : [container.id];
  const paths =
    plan.walk === "join" ? plan.equals.map((pair) => [...above, ...pair]) : [[...above, plan.tag]];
  return paths.map((path) => {
    const bounds = plan.walk === "join" ? table.range(path) : valueBounds(table, path, plan.terms);
    const cursor = new TagCursor(view, table, table.prefix(path), bounds);
    if (from !== undefined) cursor.seek(Buffer.from(from, "base64"));
    return cursor;
  });
}

/** Moves all cursors to the next key suffix that they have in common; undefined if there is
 *  none. */
async function nextCommonSuffix(cursors: readonly Cursor[]): Promise<Uint8Array | undefined> {
  const [first, ...others] = cursors;
  if (first === undefined) return undefined;
  for (;;) {
    let farthest = await first.suffix();
    if (farthest === undefined) return undefined;
    const start = farthest;
    for (const other of others) {
      other.seek(farthest);
      const suffix = await other.suffix();
      if (suffix === undefined) return undefined;
      if (Buffer.compare(suffix, farthest) > 0) farthest = suffix;
    }
    if (farthest === start || countExamined(cursors) > examinedMax) return farthest;
    first.seek(farthest);
  }
}

function countExamined(cursors: readonly Cursor[]): number {
  let total = 0;
  for (const cursor of cursors) total += cursor.examined;
  return total;
}

/** The blob that an index entry refers to. */
interface IndexPosition {
  readonly container: bigint;
  readonly name: string;
  /** Key suffix after all entries of this container with the same value. */
  readonly pastContainer: Uint8Array;
}

/** Decodes a key suffix: `[container,] name` for a join; in a scan of values it starts with the
 *  value. */
function positionOf(suffix: Uint8Array, { container }: Search): IndexPosition {
  const parts = decodeKey(suffix);
  const name = parts.at(-1) as string;
  if (container !== undefined) {
    return { container: container.id, name, pastContainer: Uint8Array.of(pastEverything) };
  }
  const upToContainer = encodeKey(parts.slice(0, -1));
  return {
    container: parts.at(-2) as bigint,
    name,
    pastContainer: Buffer.concat([upToContainer, Uint8Array.of(pastEverything)]),
  };
}

/** The tags of the blob if it satisfies all terms; otherwise undefined. */
async function matching(
  view: RecordView,
  { terms }: Search,
  { container, name }: IndexPosition,
): Promise<Tags | undefined> {
  const current = { snapshot: undefined, versionId: undefined };
  const record = await findBlob(view, { container, name }, current);
  return record?.tags === undefined ? undefined : matchedTags(terms, record.tags);
}

/** Names of containers by id, which are read once. Undefined for containers that are deleted or
 *  belong to other accounts. */
class ContainerNames {
  readonly #view: RecordView;
  readonly #search: Search;
  readonly #known = new Map<bigint, string | undefined>();

  constructor(view: RecordView, search: Search) {
    this.#view = view;
    this.#search = search;
  }

  async of(id: bigint): Promise<string | undefined> {
    const { container } = this.#search;
    if (container !== undefined) return container.name;
    if (!this.#known.has(id)) this.#known.set(id, await this.#find(id));
    return this.#known.get(id);
  }

  async #find(id: bigint): Promise<string | undefined> {
    for await (const batch of this.#view.scan(containerNames, containerNames.range([id]))) {
      for (const { record } of batch) {
        if (record.account === this.#search.account) return record.name;
      }
    }
    return undefined;
  }
}
