import { compose, edit } from "../../content/plan.ts";
import type {
  ContentEdit,
  ContentPart,
  ContentPlan,
  ContentRef,
} from "../../content/content-ref.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";

/** Data that was appended and not flushed. */
export interface AppendedData {
  readonly id: string;
  readonly position: number;
  readonly length: number;
  readonly part: ContentPart;
}

/** Appends at one position are ordered by time of arrival; a later one wins where they overlap.
 *  In the order of ids, positions ascend. */
export function appendedId(position: number, moment: bigint, unique: bigint): string {
  const hex = (value: bigint | number, digits: number) => value.toString(16).padStart(digits, "0");
  return `${hex(position, 12)}.${hex(moment, 16)}.${hex(unique, 16)}`;
}

function momentOf({ id }: AppendedData): string {
  return id.slice(id.indexOf(".") + 1);
}

export interface FlushPlan {
  /** Undefined if the content stays as it is. */
  readonly content: ContentPlan | undefined;
  /** What is left of the appended data: it reaches beyond the flushed length. */
  readonly beyond: readonly AppendedData[];
}

/** The content after a flush up to `length`: the present content, overwritten and continued by the
 *  appended data. Fails if that leaves a gap, or if the file would become shorter. */
export function planFlush(
  present: ContentRef,
  appended: readonly AppendedData[],
  length: number,
): Result<FlushPlan> {
  if (length < present.length) return fail("InvalidFlushPosition");
  const beyond = appended.filter((data) => data.position + data.length > length);
  const used = appended.filter((data) => data.position < length);
  if (used.length === 0) {
    return length === present.length
      ? ok({ content: undefined, beyond })
      : fail("InvalidFlushPosition");
  }
  const byPosition = used.toSorted((a, b) => a.position - b.position);
  if (!isContiguous(byPosition, present.length, length)) return fail("InvalidFlushPosition");
  return ok({ content: contentOf(present, byPosition, length), beyond });
}

function isContiguous(byPosition: readonly AppendedData[], from: number, length: number): boolean {
  let end = from;
  for (const data of byPosition) {
    if (data.position > end) return false;
    end = Math.max(end, data.position + data.length);
  }
  return end >= length;
}

/** Data that follows the content piece by piece, as nearly always, is one change. */
function contentOf(
  present: ContentRef,
  byPosition: readonly AppendedData[],
  length: number,
): ContentPlan {
  let end = present.length;
  const isSequence = byPosition.every((data) => {
    const follows = data.position === end;
    end += data.length;
    return follows;
  });
  if (isSequence && end === length) {
    const part = { pieces: byPosition.flatMap((data) => data.part.pieces) };
    if (present.length === 0) return compose([part]);
    return edit(present, { edit: "write", at: present.length, part });
  }
  const inOrder = byPosition.toSorted((a, b) => (momentOf(a) < momentOf(b) ? -1 : 1));
  const writes = inOrder.map(({ position: at, part }): ContentEdit => ({
    edit: "write",
    at,
    part,
  }));
  return edit(present, ...writes, { edit: "resize", length });
}
