import type { ContentPlan } from "../../core/content-ref.ts";
import { put, remove, type Effect } from "../../core/effects.ts";
import { nodes, type NodeRecord } from "../records.ts";
import { place, revise, takeAway } from "../shared/revise.ts";
import type { Found } from "./work.ts";

/** The same rules as behind REST's answers, as plain effects for a transaction of a handle. */

/** A node changes where it is. */
export function changeNode(
  { share, key, node: target }: Found,
  next: NodeRecord,
  content?: ContentPlan,
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const { put: record, preserve, effects } = revise({ share, key }, { target, next, ...plan });
  return [...preserve, put(nodes, key, record, content), ...effects];
}

/** A node that was not there. */
export function addNode(
  { share, key, node: next }: Found,
  content?: ContentPlan,
): readonly Effect[] {
  const plan = content === undefined ? {} : { content };
  const target = undefined;
  const { put: record, preserve, effects } = place({ share, key }, { target, next, ...plan });
  return [...preserve, put(nodes, key, record, content), ...effects];
}

export function removeNode({ share, key, node }: Found): readonly Effect[] {
  const { preserve, effects } = takeAway({ share, key }, node);
  return [...preserve, remove(nodes, key), ...effects];
}
