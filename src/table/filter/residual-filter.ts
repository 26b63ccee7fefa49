import { edm } from "../edm/edm.ts";
import type { Box } from "./key-boxes.ts";
import type { Filter } from "./tree.ts";

/** What is left of a filter for entities that lie in its boxes: if they are all of one partition,
 *  none has to be asked for it. Undefined if nothing is left. */
export function residualFilter(filter: Filter, boxes: readonly Box[]): Filter | undefined {
  const partition = onlyPartition(boxes);
  return partition === undefined ? filter : without(filter, partition);
}

function onlyPartition(boxes: readonly Box[]): string | undefined {
  const [first] = boxes;
  const key = first?.partitions.low?.key;
  const isOne = boxes.every(
    ({ partitions: { low, high } }) => low?.key === key && high?.key === key,
  );
  return isOne ? key : undefined;
}

function without(filter: Filter, partition: string): Filter | undefined {
  if (filter.kind === "compare") return isThe(filter, partition) ? undefined : filter;
  if (filter.kind !== "and") return filter;
  const left = without(filter.left, partition);
  const right = without(filter.right, partition);
  if (left === undefined || right === undefined) return left ?? right;
  return { kind: "and", left, right };
}

function isThe(filter: Extract<Filter, { kind: "compare" }>, partition: string): boolean {
  const { comparison, left, right } = filter;
  if (comparison !== "eq" || left.kind !== "property" || right.kind !== "literal") return false;
  const { literal } = right;
  if (left.name !== "PartitionKey" || literal?.type !== edm.string) return false;
  return literal.value === partition;
}
