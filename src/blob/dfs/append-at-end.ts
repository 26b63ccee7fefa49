import { append } from "../../content/plan.ts";
import type { ContentPlan, ReceivedBody } from "../../content/content-ref.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Effect } from "../../operation/effects.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { appendedBlocksMax } from "../shared/limits.ts";

/** An append to an append blob. */
interface AppendAtEnd {
  readonly target: BlobRecord;
  readonly input: { readonly position: number };
  readonly received: ReceivedBody;
  readonly newETag: Ticks;
}

/** What an append changes. */
export interface AppendResult {
  readonly put?: BlobRecord;
  readonly content?: ContentPlan;
  readonly effects?: readonly Effect[];
}

/** Appends to an append blob that this API created: at its end only, and visible at once. */
export function appendAtEnd(given: AppendAtEnd): Result<AppendResult> {
  const { target, input, received, newETag } = given;
  if (target.writtenBy !== "dfs") return fail("InvalidAppendOperation");
  if (input.position !== target.content.length) return fail("InvalidQueryParameterValue");
  const count = (target.committedBlockCount ?? 0) + 1;
  if (count > appendedBlocksMax) return fail("BlockCountExceedsLimit");
  return ok({
    put: { ...target, etag: newETag, committedBlockCount: count },
    content: append(target.content, received),
  });
}
