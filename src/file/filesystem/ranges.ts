import { emptyContent, type Slice } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { Runtime } from "../../operation/work.ts";
import { sectorsOf, slicesOf, intervalsOf, type Interval } from "../range/range-list.ts";
import { executeAtOnce, type LoadedContext } from "./execute-operation.ts";
import type { FileResult } from "./file-result.ts";
import { handleOperation, type HandleRequest, type LoadedFile } from "./handle-operation.ts";

interface WrittenRangesRequest extends HandleRequest {
  readonly span: Span;
}

/** Reports which parts of a span were written and not cleared, rounded to whole sectors as in List
 *  Ranges. */
const writtenRangesOperation = handleOperation<
  WrittenRangesRequest,
  readonly Interval[],
  readonly Slice[]
>({
  name: "query allocated ranges",
  effect: "reads",
  event: "none",
  onSnapshot: "allowed",
  handle: "unchecked",
  lease: "checked-at-open",
  fileAccess: "none",
  reads: (view, context) =>
    slicesOf(view, context.loaded.node.content ?? emptyContent, spanInside(context)),
  decide: (context) => {
    const { from, length } = spanInside(context);
    const clipped = intervalsOf(context.readResult).map((range) => ({
      from: Math.max(range.from, from),
      to: Math.min(range.to, from + length),
    }));
    return { value: sectorsOf(clipped, context.loaded.node.content?.length ?? 0) };
  },
});

function spanInside({
  request: { span },
  loaded: { node },
}: LoadedContext<WrittenRangesRequest, LoadedFile>): Span {
  const present = node.content?.length ?? 0;
  return { from: span.from, length: Math.max(0, Math.min(span.length, present - span.from)) };
}

export function writtenRanges(
  runtime: Runtime,
  request: WrittenRangesRequest,
): Promise<FileResult<readonly Interval[]>> {
  return executeAtOnce(runtime, writtenRangesOperation, request);
}
