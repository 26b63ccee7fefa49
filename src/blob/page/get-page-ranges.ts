import { blobRead } from "../blob-policy.ts";
import { parseSnapshotTime } from "../../base/dates.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { maxResults } from "../../operation/listing.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import { query, type Param } from "../../protocol/params.ts";
import { pageBytes, type ByteRange, type Span } from "../../protocol/ranges.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { elementOf, joined, rendered, xmlBodyOf } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { generations, type BlobKey, type BlobRecord } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { clearedSince, type ClearedRange } from "./cleared-ranges.ts";
import type { ContentRef, Slice, SliceSource } from "../../content/content-ref.ts";
import { decodePercent } from "../../protocol/names.ts";
import { readRange } from "../read/get-blob.ts";

/** Get Page Ranges: which pages of a page blob have data, or differ from an earlier snapshot.
 *  Backups of disks read only those. */

/** A range of a response: pages with data (`page`) or, in a diff, cleared pages (`clear`). */
interface PageRange extends Span {
  readonly kind: "page" | "clear";
}

export interface RangePage {
  readonly ranges: readonly PageRange[];
  /** Offset at which the next response starts; undefined if this is the last one. */
  readonly next: number | undefined;
}

interface RangeRequest {
  readonly span: Span;
  readonly rangesMax: number;
}

/** Collects the ranges of a response up to its limit, joining adjacent ones of the same kind. */
class Collector {
  readonly ranges: { kind: "page" | "clear"; from: number; length: number }[] = [];
  next: number | undefined;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Adds a range; returns false if the limit is reached. */
  add(kind: "page" | "clear", from: number, to: number): boolean {
    const last = this.ranges.at(-1);
    if (last !== undefined && last.kind === kind && last.from + last.length === from) {
      last.length = to - last.from;
      return true;
    }
    if (this.ranges.length === this.#max) {
      this.next = from;
      return false;
    }
    this.ranges.push({ kind, from, length: to - from });
    return true;
  }
}

/** Finds the ranges of pages with data, for Get Page Ranges. */
export async function validPages(
  view: RecordView,
  content: ContentRef,
  { span, rangesMax }: RangeRequest,
): Promise<RangePage> {
  const collector = new Collector(rangesMax);
  const end = span.from + span.length;
  for await (const { at, length } of slicesOf(view, content, span)) {
    const from = Math.max(at, span.from);
    if (!collector.add("page", from, Math.min(at + length, end))) break;
  }
  return collector;
}

/** The two contents that a diff compares, and the ranges that were cleared in between, by
 *  offset. */
interface Changes {
  readonly before: ContentRef;
  readonly after: ContentRef;
  readonly cleared: readonly ClearedRange[];
}

/** Returns the pages that changed, in the order of offsets: those that differ, and those that are
 *  empty in both but were cleared in between. Compares slices (stored ranges of bytes), which
 *  contents share where nothing was written in between. */
export async function changedPages(
  view: RecordView,
  { before, after, cleared }: Changes,
  { span, rangesMax }: RangeRequest,
): Promise<RangePage> {
  const collector = new Collector(rangesMax);
  const left = new SliceCursor(slicesOf(view, before, span));
  const right = new SliceCursor(slicesOf(view, after, span));
  const end = span.from + span.length;
  let at = span.from;
  let range = 0;
  while (at < end) {
    const was = await left.at(at);
    const is = await right.at(at);
    while (range < cleared.length && cleared[range]![1] <= at) range += 1;
    const [clearedFrom, clearedEnd] = cleared[range] ?? [Infinity, Infinity];
    const isCleared = clearedFrom <= at;
    const to = Math.min(end, was.to, is.to, isCleared ? clearedEnd : clearedFrom);
    const kind = is.slice === undefined ? "clear" : "page";
    const isEmptyAgain = is.slice === undefined && isCleared;
    if ((isEmptyAgain || isChanged(was, is, at)) && !collector.add(kind, at, to)) break;
    at = to;
  }
  return collector;
}

function isChanged({ slice: was }: PageRangePart, { slice: is }: PageRangePart, at: number) {
  if (is === undefined || was === undefined) return is !== was;
  return !isSame(was, is, at);
}

/** Whether two slices are the same stored bytes. To free space, slices are moved to other extents
 *  (units of storage); then the checksums of whole slices are compared. */
function isSame(was: Slice, is: Slice, at: number): boolean {
  const left = was.source;
  const right = is.source;
  if ("bytes" in left || "bytes" in right) return isSameInline(was, is, at);
  if (left.extent === right.extent) {
    return left.offset + (at - was.at) === right.offset + (at - is.at);
  }
  const whole = was.at === is.at && was.length === is.length;
  return whole && left.crc64 !== undefined && left.crc64 === right.crc64;
}

function isSameInline(was: Slice, is: Slice, at: number): boolean {
  const end = Math.min(was.at + was.length, is.at + is.length);
  const left = inlineBytes(was.source, at - was.at, end - at);
  const right = inlineBytes(is.source, at - is.at, end - at);
  return left !== undefined && right !== undefined && Buffer.compare(left, right) === 0;
}

function inlineBytes(source: SliceSource, from: number, length: number): Uint8Array | undefined {
  return "bytes" in source ? source.bytes.subarray(from, from + length) : undefined;
}

interface PageRangePart {
  /** The slice at the cursor's offset; undefined in a range without data. */
  readonly slice: Slice | undefined;
  /** End of the slice, or of the range without data. */
  readonly to: number;
}

/** Finds the slice (stored range of bytes) at an offset, for a comparison of two contents; reads
 *  each slice once, so offsets must increase. */
class SliceCursor {
  readonly #slices: AsyncIterator<Slice>;
  #current: Slice | undefined;
  #done = false;

  constructor(slices: AsyncIterable<Slice>) {
    this.#slices = slices[Symbol.asyncIterator]();
  }

  async at(offset: number): Promise<PageRangePart> {
    while (!this.#done && (this.#current === undefined || endOf(this.#current) <= offset)) {
      const { value, done } = await this.#slices.next();
      this.#done = done === true;
      this.#current = this.#done ? undefined : (value as Slice);
    }
    const slice = this.#current;
    if (slice === undefined) return { slice: undefined, to: Infinity };
    return slice.at > offset ? { slice: undefined, to: slice.at } : { slice, to: endOf(slice) };
  }
}

function endOf({ at, length }: Slice): number {
  return at + length;
}

async function* slicesOf(
  view: RecordView,
  content: ContentRef,
  { from, length }: Span,
): AsyncGenerator<Slice> {
  if (content.kind === "inline") {
    if (content.length > 0) yield { at: 0, length: content.length, source: content };
    return;
  }
  for await (const batch of view.slices(content, from, length)) yield* batch;
}

/** Azure's limit of ranges per response, also without `maxresults`; a marker continues it. */
const rangesMax = 10_000;

/** The earlier snapshot of a diff, as the header `x-ms-previous-snapshot-url` names it. */
interface NamedSnapshot {
  /** Decoded path of the URL in that header; its last two segments are container and blob. */
  readonly path: string;
  readonly at: Ticks;
}

/** The snapshot with which a diff compares, given as a URL. Clients use this form for managed
 *  disks. */
const previousUrl: Param<NamedSnapshot | undefined> = {
  sources: ["x-ms-previous-snapshot-url"],
  parse: (reader) => {
    const text = reader.header("x-ms-previous-snapshot-url");
    if (text === undefined || text === "") return ok(undefined);
    const url = URL.parse(text);
    const path = decodePercent(url?.pathname ?? "");
    const at = parseSnapshotTime(url?.searchParams.get("snapshot") ?? "");
    return at === undefined || path === undefined
      ? invalidHeader("x-ms-previous-snapshot-url", text)
      : ok({ path, at });
  },
};

const readPermission = { letters: "r", resourceType: "o", publicRead: "blob" } as const;

interface PreviousInput {
  readonly previous: Ticks | undefined;
  readonly previousUrl: NamedSnapshot | undefined;
}

function previousTime({ previous, previousUrl: url }: PreviousInput): Ticks | undefined {
  return previous ?? url?.at;
}

/** Whether the URL of the earlier snapshot, if there is one, is that of the addressed blob. */
function isOfBlob({ previousUrl: url }: PreviousInput, { container, blob }: BlobAddress): boolean {
  return url === undefined || url.path.endsWith(`/${container}/${blob}`);
}

/** The earlier snapshot that a request names. A SAS for one snapshot does not permit reading
 *  another one, so the request needs permission for it, too. */
function previousSnapshot(parameter: string): SameCredentialsResource<BlobAddress, PreviousInput> {
  return {
    kind: "same-credentials",
    parameter,
    permission: readPermission,
    resourceOf: ({ container, blob }, { previous, previousUrl: url }) => {
      const snapshotTime = parameter === "prevsnapshot" ? previous : url?.at;
      return snapshotTime === undefined ? undefined : { name: container, path: blob, snapshotTime };
    },
  };
}

const marker = query("marker", (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined));

interface PageRangesRead {
  readonly page: RangePage | undefined;
  readonly previous: BlobRecord | undefined;
}

/** Lists the pages with data or, if the request names an earlier snapshot, the pages that changed
 *  since. learn.microsoft.com/rest/api/storageservices/get-page-ranges */
export const getPageRanges = operation({
  ...blobRead,
  name: "Get Page Ranges",
  ids: ["PageBlob_GetPageRanges", "PageBlob_GetPageRangesDiff"],
  route: { method: "GET", resource: "blob", query: { comp: "pagelist" } },
  params: {
    range: readRange,
    previous: query("prevsnapshot", parseSnapshotTime),
    previousUrl,
    marker,
    maxResults,
  },
  namedResources: [
    previousSnapshot("prevsnapshot"),
    previousSnapshot("x-ms-previous-snapshot-url"),
  ],
  permission: readPermission,
  namespace: "flat",
  policy: { ...blobRead.policy, clientKey: "none" },
  largeResponse: true,
  reads: async (view, { scope, target, input }): Promise<PageRangesRead> => {
    const at = previousTime(input);
    const key = blobKey({ scope });
    const previous = at === undefined ? undefined : await findPrevious(view, key, at);
    const span = requestedSpan(input.range, target.content.length, input.marker);
    if (span === undefined || target.type !== "PageBlob") return { page: undefined, previous };
    const requested = { span, rangesMax: Math.min(input.maxResults ?? rangesMax, rangesMax) };
    if (at === undefined) {
      return { page: await validPages(view, target.content, requested), previous };
    }
    if (previous === undefined) return { page: undefined, previous };
    const cleared = clearedSince(target.cleared, at);
    const contents = { before: previous.content, after: target.content, cleared };
    return { page: await changedPages(view, contents, requested), previous };
  },
  decide: ({ address, target, input, readResult }) => {
    if (target.type !== "PageBlob") return fail("InvalidBlobType");
    const at = previousTime(input);
    if (at !== undefined) {
      const isFound = readResult.previous !== undefined && isOfBlob(input, address);
      if (!isFound) return fail("PreviousSnapshotNotFound");
      if (target.snapshot !== undefined && at > target.snapshot) {
        return fail("PreviousSnapshotCannotBeNewer");
      }
      // Another lineage means that the blob was created again after the earlier snapshot.
      if (readResult.previous.lineage !== target.lineage) return fail("BlobOverwritten");
    }
    if (readResult.page === undefined) return fail("InvalidRange");
    return {
      headers: { "x-ms-blob-content-length": String(target.content.length) },
      body: xmlBodyOf(renderRanges(readResult.page, input.maxResults !== undefined)),
    };
  },
});

async function findPrevious(
  view: RecordView,
  key: BlobKey,
  at: Ticks,
): Promise<BlobRecord | undefined> {
  const found = await view.get(generations, { ...key, at, kind: "snapshot" });
  return found?.deleted === undefined ? found : undefined;
}

/** The requested range in whole pages of 512 bytes; undefined if it starts after the end. */
function requestedSpan(
  requested: ByteRange | undefined,
  length: number,
  start: number | undefined,
): Span | undefined {
  const first = requested?.first ?? 0;
  if (requested !== undefined && first >= length) return undefined;
  const from = Math.max(first - (first % pageBytes), start ?? 0);
  const end = requested?.last === undefined ? length : Math.min(pageEnd(requested.last), length);
  return { from, length: Math.max(0, end - from) };
}

function pageEnd(last: number): number {
  return last - (last % pageBytes) + pageBytes;
}

function renderRanges({ ranges, next }: RangePage, paged: boolean): Iterable<string> {
  const entries = rendered(ranges, ({ kind, from, length }) => {
    const name = kind === "page" ? "PageRange" : "ClearRange";
    return element(name, textElement("Start", from) + textElement("End", from + length - 1));
  });
  const nextMarker = next === undefined ? (paged ? "" : undefined) : String(next);
  return elementOf("PageList", joined(entries, textElement("NextMarker", nextMarker)));
}
