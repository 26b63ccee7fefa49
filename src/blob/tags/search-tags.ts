import {
  compareKeys,
  decodeKey,
  encodeKey,
  laterKey,
  type KeyBounds,
  type KeyPart,
} from "../../encoding/keys.ts";
import type { Table } from "../../encoding/table.ts";
import { compareTag, type TagComparison, type Tags } from "../../protocol/tags.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  allTags,
  containerNames,
  containerTags,
  type EmptyRecord,
  type TagKey,
} from "../indexes.ts";
import { RecordCursor } from "../list/scan-blobs.ts";
import { joinPath, pathOfDirectory } from "../tree/find-path.ts";
import { mayListAll } from "../tree/list-access.ts";
import { findBlob } from "../shared/overwrite.ts";

/** Searches blobs by tags in the tag indexes: the entries of several tags are merged like sorted
 *  lists, so that a search reads little more than it finds. */

/** A search for blobs by tags, as `find-blobs.ts` requests it. */
interface Search {
  readonly account: bigint;
  /** The container to search in; undefined for all containers of the account. */
  readonly container: { readonly id: bigint; readonly name: string } | undefined;
  readonly terms: readonly TagComparison[];
  /** Where to continue: the rest of an index key after the tag and value, in Base64. Undefined: at
   *  the start. */
  readonly from: string | undefined;
  readonly limit: number;
  /** Whether blobs are keyed by the id of their directory instead of the container. */
  readonly isHierarchical: boolean;
  /** The caller, if access control lists limit what it finds: files in directories that it may
   *  list. */
  readonly caller: AclCaller | undefined;
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

/** Most index entries that a page reads, which bounds the time of a request. A page that reaches
 *  the limit is short and has a continuation. */
const examinedMax = 20_000;
/** A byte greater than the first byte of every key part: a key with it comes after all keys of the
 *  range. */
const pastEverything = 0xff;

/** Reads one page of the blobs whose tags satisfy all terms (comparisons of the filter), by merging
 *  ranges of the tag indexes. */
export async function searchTags(view: RecordView, search: Search): Promise<SearchPage> {
  const cursors = openCursors(view, search);
  const parents = new Parents(view, search);
  const blobs: TaggedBlob[] = [];
  for (;;) {
    const suffix = await nextCommonSuffix(cursors);
    if (suffix === undefined) return { blobs, next: undefined };
    if (blobs.length >= search.limit || countExamined(cursors) > examinedMax) {
      return { blobs, next: Buffer.from(suffix).toString("base64") };
    }
    const position = positionOf(suffix, search);
    const parent = await parents.of(position.container);
    if (parent === undefined) {
      for (const cursor of cursors) cursor.seek(position.pastContainer);
      continue;
    }
    const found = await matching(view, search, position);
    const name = joinPath(parent.path, position.name);
    if (found !== undefined) blobs.push({ container: parent.container, name, tags: found });
    cursors[0]?.step();
  }
}

/** The container whose own tag index is searched. Undefined: the index of all containers is
 *  searched. On hierarchical accounts, whose blobs are keyed by directories, it always is. */
function indexedContainer({ container, isHierarchical }: Search): Search["container"] {
  return isHierarchical ? undefined : container;
}

function openCursors(view: RecordView, search: Search): readonly TagCursor[] {
  const plan = planSearch(search.terms);
  if (plan === undefined) return [];
  const { from } = search;
  const container = indexedContainer(search);
  const table: Table<TagKey, EmptyRecord> = container === undefined ? allTags : containerTags;
  const above = container === undefined ? [] : [container.id];
  const paths =
    plan.walk === "join" ? plan.equals.map((pair) => [...above, ...pair]) : [[...above, plan.tag]];
  return paths.map((path) => {
    const bounds = plan.walk === "join" ? table.range(path) : valueBounds(table, path, plan.terms);
    const records = new RecordCursor(view, table, { ...bounds, ...batches });
    const cursor = new TagCursor(records, table.prefix(path));
    if (from !== undefined) cursor.seek(Buffer.from(from, "base64"));
    return cursor;
  });
}

/** Moves the cursors of all terms to the next rest of a key that they have in common: that of a
 *  blob with all tags. Undefined if there is none. */
async function nextCommonSuffix(cursors: readonly TagCursor[]): Promise<Uint8Array | undefined> {
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

function countExamined(cursors: readonly TagCursor[]): number {
  let total = 0;
  for (const cursor of cursors) total += cursor.examined;
  return total;
}

/** The blob that an index entry refers to. */
interface IndexPosition {
  readonly container: bigint;
  readonly name: string;
  /** Key suffix after all entries of this container with the same value, to skip them. */
  readonly pastContainer: Uint8Array;
}

/** Decodes the rest of an index key after `prefix`: `[container,] name` in a join; if the values of
 *  one tag are scanned, it begins with the value. */
function positionOf(suffix: Uint8Array, search: Search): IndexPosition {
  const container = indexedContainer(search);
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

/** The container and the directory of the blobs of an index entry. */
interface Parent {
  readonly container: string;
  /** The path of the directory; empty for the root directory and on flat accounts. */
  readonly path: string;
}

/** Containers and directories by id, each read once per search. Undefined for those that are
 *  deleted, that the search does not include, or that the caller may not list. */
class Parents {
  readonly #view: RecordView;
  readonly #search: Search;
  readonly #known = new Map<bigint, Parent | undefined>();

  constructor(view: RecordView, search: Search) {
    this.#view = view;
    this.#search = search;
  }

  async of(id: bigint): Promise<Parent | undefined> {
    if (!this.#known.has(id)) this.#known.set(id, await this.#find(id));
    return this.#known.get(id);
  }

  async #find(id: bigint): Promise<Parent | undefined> {
    const { container: searched, isHierarchical, caller } = this.#search;
    const flat = { container: id, names: [] };
    const { container, names } = isHierarchical ? await pathOfDirectory(this.#view, id) : flat;
    if (searched !== undefined && searched.id !== container) return undefined;
    const isListable =
      caller === undefined || (await mayListAll(this.#view, container, names, caller));
    if (!isListable) return undefined;
    const name = searched?.name ?? (await this.#nameOf(container));
    return name === undefined ? undefined : { container: name, path: names.join("/") };
  }

  async #nameOf(id: bigint): Promise<string | undefined> {
    for await (const batch of this.#view.scan(containerNames, containerNames.range([id]))) {
      for (const { record } of batch) {
        if (record.account === this.#search.account) return record.name;
      }
    }
    return undefined;
  }
}

/** How a search uses the tag index. `join`: a merge join of all terms `tag = value`. `values`: a
 *  scan of the values of one tag, if no term is an equality. All terms are checked again on the
 *  found blob. */
type SearchPlan =
  | { readonly walk: "join"; readonly equals: readonly (readonly [tag: string, value: string])[] }
  | { readonly walk: "values"; readonly tag: string; readonly terms: readonly TagComparison[] };

/** Chooses how to search; undefined without terms. */
function planSearch(terms: readonly TagComparison[]): SearchPlan | undefined {
  const equals = new Map<string, readonly [string, string]>();
  for (const { name, operator, value } of terms) {
    if (operator === "=") equals.set(`${name}\u0000${value}`, [name, value]);
  }
  if (equals.size > 0) return { walk: "join", equals: [...equals.values()] };
  const tag = terms[0]?.name;
  if (tag === undefined) return undefined;
  return { walk: "values", tag, terms: terms.filter(({ name }) => name === tag) };
}

interface ValueRange {
  readonly range: (parts: readonly KeyPart[]) => KeyBounds;
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
}

/** The range of index keys with the values of one tag that can satisfy the terms. `above` is the
 *  start of the key, up to the tag. */
function valueBounds(
  table: ValueRange,
  above: readonly KeyPart[],
  terms: readonly TagComparison[],
): KeyBounds {
  let { start, end } = table.range(above);
  for (const { operator, value } of terms) {
    const at = table.range([...above, value]);
    if (operator === ">=") start = laterKey(start, at.start);
    if (operator === ">") start = laterKey(start, at.end);
    if (operator === "<" && compareKeys(at.start, end) < 0) end = at.start;
    if (operator === "<=" && compareKeys(at.end, end) < 0) end = at.end;
  }
  return { start, end };
}

/** The tags that the search names, with their values; undefined if a term is not satisfied. */
function matchedTags(terms: readonly TagComparison[], tags: Tags): Tags | undefined {
  const matched: Record<string, string> = {};
  for (const term of terms) {
    if (!Object.hasOwn(tags, term.name)) return undefined;
    const value = tags[term.name] ?? "";
    if (!compareTag(value, term)) return undefined;
    matched[term.name] = value;
  }
  return matched;
}

/** Index entries per read: starts with `batchMin` and doubles up to `batchMax`, because a search
 *  often needs only a few. */
const batches = { batchMin: 16, batchMax: 1024 };

/** A cursor over a range of a tag index. It compares the rests of keys after `prefix` (tag and
 *  value), so that cursors over different tags can be joined. */
class TagCursor {
  readonly #cursor: RecordCursor<TagKey, EmptyRecord>;
  readonly #prefix: Uint8Array;
  /** Number of index entries that were read or skipped, which `examinedMax` limits. */
  examined = 0;

  constructor(cursor: RecordCursor<TagKey, EmptyRecord>, prefix: Uint8Array) {
    this.#cursor = cursor;
    this.#prefix = prefix;
  }

  /** The rest of the current key after the prefix; undefined at the end. */
  async suffix(): Promise<Uint8Array | undefined> {
    if (this.#cursor.isDrained) await this.#cursor.fill();
    return this.#cursor.current?.key.subarray(this.#prefix.length);
  }

  step(): void {
    this.#cursor.step();
    this.examined += 1;
  }

  /** Moves to the first key whose rest is not smaller than `suffix`. */
  seek(suffix: Uint8Array): void {
    this.#cursor.seek(Buffer.concat([this.#prefix, suffix]));
    this.examined += 1;
  }
}
