import type { Operation } from "./history.ts";
import type { Verdict } from "./linearizability.ts";

/** Too many operations without a response; of one key of many it does no harm. */
export const undecided = "the search did not end: nothing is proved";

const shownMax = 4;

/** The verdict as text; empty if there are no problems. */
export function explain<Input, Output>(verdict: Verdict<Input, Output>): readonly string[] {
  if (verdict.kind === "linearizable") return [];
  if (verdict.kind === "undecided") return [undecided];
  const { explained, state, stuck } = verdict;
  const shown = stuck.slice(0, shownMax).map(describe).join("; ");
  return [`no order explains it: after ${explained} operations "${state}", then none of: ${shown}`];
}

export function describe({ id, input, output }: Operation<unknown, unknown>): string {
  return `${id} ${JSON.stringify(input)} → ${JSON.stringify(output ?? "unknown")}`;
}
