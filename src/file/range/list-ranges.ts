import { emptyContent, type ContentRef, type Slice } from "../../content/content-ref.ts";
import { clipRange, type Span, type ByteRange } from "../../protocol/ranges.ts";
import type { RecordView } from "../../operation/view.ts";
import { sectorBytes } from "../shared/limits.ts";
import { parseSnapshotTime } from "../../base/dates.ts";
import { maxResults } from "../../operation/listing.ts";
import { propertiesRead } from "../../operation/operation.ts";
import { boolean, header, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { elementOf, joined, rendered, xmlBodyOf } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { shareSnapshots, versions, type NodeRecord } from "../records.ts";
import { fileOperation, wholeFile } from "../file-operation.ts";
import { readAccess } from "../locks/file-access.ts";
import type { NodeScope } from "../resources.ts";
import { findNode, resolvePath } from "../share-tree.ts";
import { readRange } from "../shared/range-params.ts";

/** List Ranges, and finding the written ranges of a file, which SMB uses as well. */

/** The bytes of a file from `from` up to, not including, `to`. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** The slices (stored pieces) of a content that overlap a span, in order. The first and the last
 *  may extend beyond it. */
export async function slicesOf(
  view: RecordView,
  content: ContentRef,
  { from, length }: Span,
): Promise<readonly Slice[]> {
  const found: Slice[] = [];
  if (length <= 0) return found;
  for await (const slices of view.slices(content, from, length)) found.push(...slices);
  return found;
}

/** Rounds intervals outwards to whole sectors (512 bytes), at most up to `end`, and merges those
 *  that touch: as Azure reports ranges. `intervals` is ordered by offset. */
export function sectorsOf(intervals: readonly Interval[], end: number): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { from, to } of intervals) {
    const start = Math.floor(from / sectorBytes) * sectorBytes;
    const stop = Math.min(Math.ceil(to / sectorBytes) * sectorBytes, end);
    const last = merged.at(-1);
    if (last !== undefined && last.to >= start) {
      merged[merged.length - 1] = { from: last.from, to: Math.max(last.to, stop) };
    } else if (stop > start) merged.push({ from: start, to: stop });
  }
  return merged;
}

export function intervalsOf(slices: readonly Slice[]): readonly Interval[] {
  return slices.map(({ at, length }) => ({ from: at, to: at + length }));
}

/** The parts of intervals in `whole` that none in `taken` covers; both are ordered. */
function subtract(whole: readonly Interval[], taken: readonly Interval[]): readonly Interval[] {
  const left: Interval[] = [];
  let next = 0;
  for (const { from, to } of whole) {
    let at = from;
    while (next < taken.length && taken[next]!.to <= at) next += 1;
    for (let index = next; index < taken.length && taken[index]!.from < to; index += 1) {
      const cut = taken[index]!;
      if (cut.from > at) left.push({ from: at, to: cut.from });
      at = Math.max(at, cut.to);
    }
    if (at < to) left.push({ from: at, to });
  }
  return left;
}

/** The ranges in which two states of a file refer to the same stored bytes, which are unchanged.
 *  Bytes that compaction has moved between the two states count as changed, so the result may lack
 *  an unchanged range, but never contains a changed one. */
function sameBytes(present: readonly Slice[], previous: readonly Slice[]): readonly Interval[] {
  const same: Interval[] = [];
  let [left, right] = [0, 0];
  while (left < present.length && right < previous.length) {
    const [now, then] = [present[left]!, previous[right]!];
    const from = Math.max(now.at, then.at);
    const to = Math.min(now.at + now.length, then.at + then.length);
    if (from < to && isSameInterval(now, then, { from, to })) same.push({ from, to });
    if (now.at + now.length <= then.at + then.length) left += 1;
    else right += 1;
  }
  return same;
}

function isSameInterval(left: Slice, right: Slice, { from, to }: Interval): boolean {
  const [a, b] = [left.source, right.source];
  if ("extent" in a && "extent" in b) {
    return a.extent === b.extent && a.offset - left.at === b.offset - right.at;
  }
  if (!("bytes" in a && "bytes" in b)) return false;
  for (let at = from; at < to; at += 1) {
    if (a.bytes[at - left.at] !== b.bytes[at - right.at]) return false;
  }
  return true;
}

interface SnapshotQuery {
  readonly epoch: number;
  /** Whether to find the file by its id if it was renamed since the snapshot. */
  readonly followsRenames: boolean;
}

/** The record of a file in a share snapshot: the file with the same path or, with `followsRenames`,
 *  with the same id. `renamed` if the file had another path in the snapshot and renames are not
 *  followed; undefined if there was no such file. */
async function nodeAt(
  view: RecordView,
  { share, components, key }: NodeScope,
  target: NodeRecord,
  { epoch, followsRenames }: SnapshotQuery,
): Promise<NodeRecord | "renamed" | undefined> {
  const resolved = await resolvePath(view, { share: share.id, epoch }, components);
  if (resolved.target?.id === target.id) return resolved.target;
  const inPlace = await findNode(view, key, epoch);
  const same =
    inPlace?.id === target.id ? inPlace : await findById(view, share.id, target.id, epoch);
  if (followsRenames) return same;
  return same === undefined ? resolved.target : "renamed";
}

/** Most stored versions of a share that the search by id examines, for a file that was created or
 *  renamed since the snapshot. One not found counts as new: all ranges are listed. */
const versionsScannedMax = 100_000;

async function findById(
  view: RecordView,
  share: bigint,
  id: bigint,
  epoch: number,
): Promise<NodeRecord | undefined> {
  const bounds = { ...versions.range([share]), limit: versionsScannedMax };
  for await (const batch of view.scan(versions, bounds)) {
    for (const { record } of batch) {
      if (record.id === id && record.since <= epoch && record.until >= epoch) return record;
    }
  }
  return undefined;
}

/** The first x-ms-version whose response is a page, with `marker` and `maxresults`; earlier ones
 *  list all ranges and ignore both. */
const pagesSince = "2026-10-06";
/** Most ranges in one page of List Ranges, also without `maxresults`. The client requests the rest
 *  with the marker. */
const rangesMax = 10_000;

/** The parameter `marker`: the offset of the first range of a page. */
const marker = query("marker", (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined));

/** Lists the ranges that were written and not cleared or, with `prevsharesnapshot`, the ranges that
 *  were written or cleared since that snapshot.
 *  learn.microsoft.com/rest/api/storageservices/list-ranges */
export const listRanges = fileOperation({
  ...propertiesRead,
  name: "List Ranges",
  ids: ["File_GetRangeList"],
  route: { method: "GET", resource: "file", query: { comp: "rangelist" } },
  params: {
    range: readRange,
    previous: query("prevsharesnapshot", parseSnapshotTime),
    followsRenames: header("x-ms-file-support-rename", boolean),
    marker,
    maxResults,
  },
  namedResources: [
    {
      kind: "same-credentials",
      parameter: "prevsharesnapshot",
      permission: { letters: "r", resourceType: "o" },
      resourceOf: ({ share, path }, input) =>
        input.previous === undefined ? undefined : { name: share, path },
    },
  ],
  permission: { letters: "r", resourceType: "o" },
  fileAccess: {
    ...readAccess,
    range: wholeFile,
  },
  largeResponse: true,
  event: "none",
  reads: async (view, { scope, target, input }) => {
    const { content = emptyContent } = target;
    const span = spanOf(input.range, content.length);
    const present = await slicesOf(view, content, span);
    if (input.previous === undefined) return { present, span };
    const key = { share: scope.share.id, at: input.previous };
    const snapshot = await view.get(shareSnapshots, key);
    if (snapshot === undefined) return { present, span, missing: "ShareNotFound" as const };
    const { followsRenames = false } = input;
    const then = await nodeAt(view, scope, target, { epoch: snapshot.epoch, followsRenames });
    if (then === "renamed") return { present, span, missing: "PreviousSnapshotNotFound" as const };
    const earlier = then?.content ?? emptyContent;
    const earlierSpan = spanOf(input.range, earlier.length);
    const slices = await slicesOf(view, earlier, earlierSpan);
    return { present, span, previous: { slices, span: earlierSpan, since: snapshot.epoch } };
  },
  decide: ({ target, input, readResult, version }) => {
    const { present, span, missing, previous } = readResult;
    if (missing !== undefined) return fail(missing);
    const length = target.content?.length ?? 0;
    const now = intervalsOf(present);
    const held = sectorsOf(now, length);
    const page = { length, input, isPaged: version >= pagesSince };
    if (previous === undefined) return reply(rangesIn(held, span), page);
    const changed = sectorsOf(subtract(now, sameBytes(present, previous.slices)), length);
    // Ranges that were written and cleared since the snapshot have no slice in either state.
    const noted = (target.cleared ?? []).filter(({ epoch }) => epoch > previous.since);
    const lost = [...intervalsOf(previous.slices), ...noted];
    const wider = previous.span.length > span.length ? previous.span : span;
    const then = sectorsOf(
      lost.toSorted((left, right) => left.from - right.from),
      wider.from + wider.length,
    );
    const cleared = rangesIn(subtract(then, held), wider, "ClearRange");
    return reply([...rangesIn(changed, span), ...cleared], page);
  },
});

function spanOf(requested: ByteRange | undefined, length: number): Span {
  const whole = { from: 0, length };
  return requested === undefined ? whole : (clipRange(requested, length) ?? { from: 0, length: 0 });
}

interface ListedRange extends Interval {
  readonly name: "Range" | "ClearRange";
}

/** The entries of List Ranges for some intervals, cut to the requested span. */
function rangesIn(
  intervals: readonly Interval[],
  { from, length }: Span,
  name: ListedRange["name"] = "Range",
): readonly ListedRange[] {
  const end = from + length;
  return intervals
    .filter((interval) => interval.to > from && interval.from < end)
    .map((interval) => ({
      name,
      from: Math.max(interval.from, from),
      to: Math.min(interval.to, end),
    }));
}

interface RangePage {
  readonly length: number;
  readonly input: { readonly marker: number | undefined; readonly maxResults: number | undefined };
  readonly isPaged: boolean;
}

/** The response of List Ranges: a page of ranges and cleared ranges, ordered by offset. */
function reply(ranges: readonly ListedRange[], { length, input, isPaged }: RangePage) {
  const ordered = ranges.toSorted((left, right) => left.from - right.from);
  const start = isPaged ? (input.marker ?? 0) : 0;
  const rest = ordered.filter(({ to }) => to > start);
  const count = isPaged ? Math.min(input.maxResults ?? rangesMax, rangesMax) : rest.length;
  const entries = rendered(rest.slice(0, count), ({ name, from, to }) => {
    // A range that has been joined with one of the last page is cut at the marker.
    const first = Math.max(from, start);
    return element(name, textElement("Start", first) + textElement("End", to - 1));
  });
  const nextMarker = textElement("NextMarker", isPaged ? (rest[count]?.from ?? "") : undefined);
  return {
    body: xmlBodyOf(elementOf("Ranges", joined(entries, nextMarker))),
    headers: { "x-ms-content-length": String(length) },
  };
}
