import { edm } from "../edm/edm.ts";
import type { Box } from "./key-boxes.ts";
import type { Filter } from "./tree.ts";

/** The part of a filter that must be evaluated for entities inside its boxes. If the boxes cover
 *  one partition, tests for it are dropped. Undefined if nothing is left. */
export function residualFilter(filter: Filter, boxes: readonly Box[]): Filter | undefined {
  const partition = onlyPartition(boxes);
  return partition === undefined ? filter : withoutPartition(filter, partition);
}

function onlyPartition(boxes: readonly Box[]): string | undefined {
  const [first] = boxes;
  const key = first?.partitions.low?.key;
  const isOne = boxes.every(
    ({ partitions: { low, high } }) => low?.key === key && high?.key === key,
  );
  return isOne ? key : undefined;
}

function withoutPartition(filter: Filter, partition: string): Filter | undefined {
  if (filter.kind === "compare") return isPartitionTest(filter, partition) ? undefined : filter;
  if (filter.kind !== "and") return filter;
  const left = withoutPartition(filter.left, partition);
  const right = withoutPartition(filter.right, partition);
  if (left === undefined || right === undefined) return left ?? right;
  return { kind: "and", left, right };
}

function isPartitionTest(filter: Extract<Filter, { kind: "compare" }>, partition: string): boolean {
  const { comparison, left, right } = filter;
  if (comparison !== "eq" || left.kind !== "property" || right.kind !== "literal") return false;
  const { literal } = right;
  if (left.name !== "PartitionKey" || literal?.type !== edm.string) return false;
  return literal.value === partition;
}
