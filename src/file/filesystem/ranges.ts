import { emptyContent } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { Runtime } from "../../operation/execute.ts";
import { sectorsOf, slicesOf, stretchesOf, type Stretch } from "../range/range-list.ts";
import { done, refuse, type FileResult } from "./file-result.ts";
import { readSnapshot, type FilePlace } from "./file-transaction.ts";

/** What of a stretch was written and not cleared, in whole sectors, as List Ranges tells it. */
export function writtenRanges(
  runtime: Runtime,
  place: FilePlace,
  { from, length }: Span,
): Promise<FileResult<readonly Stretch[]>> {
  return readSnapshot(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    const content = found.node.content ?? emptyContent;
    const inside = Math.max(0, Math.min(length, content.length - from));
    const slices = await slicesOf(work.view, content, { from, length: inside });
    const clipped = stretchesOf(slices).map((stretch) => ({
      from: Math.max(stretch.from, from),
      to: Math.min(stretch.to, from + inside),
    }));
    return done(sectorsOf(clipped, content.length));
  });
}
