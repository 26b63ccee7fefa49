import { compose, edit } from "../../../content/plan.ts";
import type {
  ContentEdit,
  ContentPart,
  ContentPlan,
  ContentRef,
} from "../../../content/content-ref.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";

/** Data that was appended to a file and is not flushed yet. */
export interface AppendedData {
  readonly id: string;
  /** Offset in the file, in bytes. */
  readonly position: number;
  /** Bytes. */
  readonly length: number;
  readonly part: ContentPart;
}

/** The id of appended data. Ids are ordered by position, then by time of arrival (`moment`): where
 *  data overlaps, the later one applies. */
export function appendedId(position: number, moment: bigint, unique: bigint): string {
  const hex = (value: bigint | number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(position, 12)}.${hex(moment, 16)}.${hex(unique, 16)}`;
}

/** The part of an id after the position, which orders appends by arrival. */
function momentOf({ id }: AppendedData): string {
  return id.slice(id.indexOf(".") + 1);
}

/** What a flush does to the content of a file. */
interface FlushPlan {
  /** Undefined if the content does not change. */
  readonly content: ContentPlan | undefined;
  /** The appended data that ends after the flushed length. */
  readonly beyond: readonly AppendedData[];
}

/** Plans a flush up to `length`: the current content, overwritten and continued by the appended
 *  data. Fails if this would leave a gap or shorten the file. */
export function planFlush(
  current: ContentRef,
  appended: readonly AppendedData[],
  length: number,
): Result<FlushPlan> {
  if (length < current.length) return fail("InvalidFlushPosition");
  const beyond = appended.filter((data) => data.position + data.length > length);
  const used = appended.filter((data) => data.position < length);
  if (used.length === 0) {
    return length === current.length
      ? ok({ content: undefined, beyond })
      : fail("InvalidFlushPosition");
  }
  const byPosition = used.toSorted((a, b) => a.position - b.position);
  if (!isContiguous(byPosition, current.length, length)) return fail("InvalidFlushPosition");
  return ok({ content: contentOf(current, byPosition, length), beyond });
}

function isContiguous(byPosition: readonly AppendedData[], from: number, length: number): boolean {
  let end = from;
  for (const data of byPosition) {
    if (data.position > end) return false;
    end = Math.max(end, data.position + data.length);
  }
  return end >= length;
}

/** The new content. Data that continues the content without overlap, the usual case, becomes one
 *  edit. */
function contentOf(
  current: ContentRef,
  byPosition: readonly AppendedData[],
  length: number,
): ContentPlan {
  let end = current.length;
  const isSequence = byPosition.every((data) => {
    const follows = data.position === end;
    end += data.length;
    return follows;
  });
  if (isSequence && end === length) {
    const part = { pieces: byPosition.flatMap((data) => data.part.pieces) };
    if (current.length === 0) return compose([part]);
    return edit(current, { edit: "write", at: current.length, part });
  }
  const inOrder = byPosition.toSorted((a, b) => (momentOf(a) < momentOf(b) ? -1 : 1));
  const writes = inOrder.map(({ position: at, part }): ContentEdit => ({
    edit: "write",
    at,
    part,
  }));
  return edit(current, ...writes, { edit: "resize", length });
}
