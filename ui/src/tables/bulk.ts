import { plural } from "../format.ts";
import { startJob, type RunContext } from "../jobs/jobs.ts";
import { everyRow, type FetchPage } from "../parts/arranged-pages.ts";
import { selectedRows, type Selection } from "../parts/selection.ts";
import { done, type Result } from "../result.ts";
import type { Entity, Property } from "../rest/entity.ts";
import { deleteEntity, getEntity, replaceEntity, type TableAddress } from "../rest/table.ts";

/** Selected entities of a table. */
export interface EntityBatch {
  readonly table: TableAddress;
  readonly selection: Pick<Selection<Entity>, "isAll" | "rows" | "has">;
  readonly fetchPage: FetchPage<Entity>;
  readonly onDone: () => void;
}

export function describeEntities({ selection: { isAll, rows }, table }: EntityBatch): string {
  if (isAll) return `all matching entities of ${table.table}`;
  const [first] = rows;
  if (rows.length === 1 && first !== undefined) return entityName(first);
  return plural(rows.length, "entity", "entities");
}

export function entityName({ partitionKey, rowKey }: Entity): string {
  return `${partitionKey} / ${rowKey}`;
}

function itemsOf({ selection, fetchPage }: EntityBatch) {
  return ({ signal }: { readonly signal: AbortSignal }) =>
    selectedRows(selection, () => everyRow(fetchPage, signal));
}

/** The listed state of an entity, or on a retry its present one. */
async function stateOf(
  table: TableAddress,
  entity: Entity,
  { isRetry }: RunContext,
): Promise<Result<Entity>> {
  return isRetry ? getEntity({ ...table, ...entity }) : done(entity);
}

/** Deletes with If-Match on the listed ETags. */
export function deleteEntities(batch: EntityBatch): void {
  const { table, onDone } = batch;
  startJob<Entity>({
    title: `Delete ${describeEntities(batch)}`,
    items: itemsOf(batch),
    nameOf: entityName,
    run: async (entity, context) => {
      const state = await stateOf(table, entity, context);
      return state.ok ? deleteEntity({ ...table, ...state.value }, state.value.etag) : state;
    },
    onDone,
  });
}

/** A change of properties that is applied to every entity of a batch. */
interface EntityChange {
  readonly set: Readonly<Record<string, Property>>;
  readonly remove: readonly string[];
}

function applyChange(
  properties: Entity["properties"],
  { set, remove }: EntityChange,
): Entity["properties"] {
  const kept = Object.entries(properties).filter(([name]) => !remove.includes(name));
  return { ...Object.fromEntries(kept), ...set };
}

/** Replaces each entity with If-Match on the state that was changed. */
export function changeEntities(batch: EntityBatch, change: EntityChange): void {
  const { table, onDone } = batch;
  startJob<Entity>({
    title: `Change ${describeEntities(batch)}`,
    items: itemsOf(batch),
    nameOf: entityName,
    run: async (entity, context) => {
      const state = await stateOf(table, entity, context);
      if (!state.ok) return state;
      const { etag, properties } = state.value;
      return replaceEntity({ ...table, ...entity }, applyChange(properties, change), etag);
    },
    onDone,
  });
}

export function countEntities(batch: EntityBatch): void {
  let entities = 0;
  startJob<Entity>({
    title: `Count ${describeEntities(batch)}`,
    items: itemsOf(batch),
    nameOf: entityName,
    run: () => {
      entities += 1;
      return Promise.resolve(done(undefined));
    },
    finish: () => plural(entities, "entity", "entities"),
    onDone: () => {},
  });
}
