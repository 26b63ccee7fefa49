import type { EntityRange, Principal } from "./principal.ts";

/** The two keys that identify an entity within its table. */
export interface EntityKeys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** Whether a table SAS is valid for an entity. Both bounds are inclusive and compare the pair of
 *  keys in order: with spk=A, srk=5 the entity (A, 4) is outside and (B, 1) inside. */
export function coversEntity(principal: Principal, entity: EntityKeys): boolean {
  if (principal.kind !== "service-sas" || principal.entities === undefined) return true;
  const { startPartitionKey, startRowKey, endPartitionKey, endRowKey }: EntityRange =
    principal.entities;
  const { partitionKey, rowKey } = entity;
  if (startPartitionKey !== undefined) {
    if (partitionKey < startPartitionKey) return false;
    const atBound = partitionKey === startPartitionKey;
    if (atBound && startRowKey !== undefined && rowKey < startRowKey) return false;
  }
  if (endPartitionKey !== undefined) {
    if (partitionKey > endPartitionKey) return false;
    const atBound = partitionKey === endPartitionKey;
    if (atBound && endRowKey !== undefined && rowKey > endRowKey) return false;
  }
  return true;
}
