import type { ContentRef, Slice, SliceSource } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { RecordView } from "../../operation/view.ts";

/** A range of pages with data (`page`) or, in a diff, of cleared pages (`clear`). */
export interface PageRange extends Span {
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

/** Collects ranges up to a limit, joining adjacent ones of the same kind. */
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

/** Finds the ranges of pages with data. */
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

/** Returns the pages that differ between consecutive contents, in the order of offsets. Contents
 *  share the slices that were not written in between. Comparing all snapshots, not only the first
 *  and the last, finds pages that were written and cleared again. */
export async function changedPages(
  view: RecordView,
  contents: readonly ContentRef[],
  { span, rangesMax }: RangeRequest,
): Promise<RangePage> {
  const collector = new Collector(rangesMax);
  const cursors = contents.map((content) => new SliceCursor(slicesOf(view, content, span)));
  const end = span.from + span.length;
  let at = span.from;
  while (at < end) {
    const parts: PageRangePart[] = [];
    for (const cursor of cursors) parts.push(await cursor.at(at));
    const to = Math.min(end, ...parts.map((part) => part.to));
    const kind = parts.at(-1)?.slice === undefined ? "clear" : "page";
    if (isChanged(parts, at) && !collector.add(kind, at, to)) break;
    at = to;
  }
  return collector;
}

function isChanged(parts: readonly PageRangePart[], at: number): boolean {
  return parts.some(({ slice: is }, index) => {
    const was = parts[index - 1];
    if (was === undefined) return false;
    if (is === undefined || was.slice === undefined) return is !== was.slice;
    return !isSame(was.slice, is, at);
  });
}

/** Whether two slices are the same stored bytes. Compaction moves slices to other extents; then the
 *  checksums of whole slices are compared. */
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
  /** The slice at the offset; undefined in a range without data. */
  readonly slice: Slice | undefined;
  /** End of the slice, or of the range without data. */
  readonly to: number;
}

/** Finds the slice at an offset; offsets must increase. */
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
