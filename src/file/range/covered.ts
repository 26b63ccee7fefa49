import type { ContentRef } from "../../content/content-ref.ts";
import type { Span } from "../../protocol/ranges.ts";
import type { RecordView } from "../../operation/view.ts";

/** How many bytes of a span were written and not cleared. A write subtracts them, so that the quota
 *  counts no byte twice. */
export async function coveredBytes(
  view: RecordView,
  content: ContentRef,
  { from, length }: Span,
): Promise<number> {
  if (length <= 0) return 0;
  let covered = 0;
  for await (const slices of view.slices(content, from, length)) {
    for (const slice of slices) {
      const start = Math.max(slice.at, from);
      const end = Math.min(slice.at + slice.length, from + length);
      covered += Math.max(0, end - start);
    }
  }
  return covered;
}
