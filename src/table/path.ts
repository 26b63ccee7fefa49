import type { EntityKeys } from "../protocol/entity-range.ts";
import { checkTableName } from "../protocol/names.ts";
import type { Address } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { QueryReader } from "../operation/service.ts";
import { keyUnitsMax } from "./edm/limits.ts";

export interface TableAddress extends Address {
  readonly resource: "service" | "batch" | "tables" | "table" | "entities" | "entity" | "nested";
  /** Empty where no table is named. */
  readonly table: string;
  readonly keys: EntityKeys | undefined;
  /** The path goes on below a table, where there is nothing. */
  readonly isNested?: true;
}

/** `name`, then optionally what stands in parentheses, then optionally more segments. A doubled
 *  quote reads as the end of one quoted text and the start of the next: with a second way to read
 *  it, the ways to try would double with each. */
const pathForm = /^([^(/]*)(?:\(((?:[^']|'[^']*')*?)\))?(\/.*)?$/s;
const nameKeyForm = /^'((?:[^']|'')*)'$/;
const entityKeysForm = /^\s*(\w+)='((?:[^']|'')*)'\s*,\s*(\w+)='((?:[^']|'')*)'\s*$/;

/** `/`, `/$batch`, `/Tables`, `/Tables('t')`, `/t()`, `/t(PartitionKey='p',RowKey='r')`. */
export function identify(path: string, query: QueryReader): Result<TableAddress> {
  const at = { table: "", keys: undefined };
  if (path === "") return ok({ resource: "service", ...at });
  if (path === "$batch") return ok({ resource: "batch", ...at });
  const match = pathForm.exec(path);
  if (match === null) return fail("InvalidInput");
  const [, name = "", inside, rest] = match;
  // Azurite accepts `/Tables/`, and clients have come to send it.
  const isWhole = rest === undefined || rest === "/";
  if (name.toLowerCase() === "tables" && isWhole) return identifyTable(inside);
  const named = checkTableName(name);
  if (!named.ok) return named;
  if (!isWhole) {
    const resource = rest.endsWith(")") ? "nested" : "entities";
    return ok({ resource, table: name, keys: undefined, isNested: true });
  }
  if (query.get("comp")?.toLowerCase() === "acl") {
    return ok({ resource: "table", table: name, keys: undefined });
  }
  if (inside === undefined || inside.trim() === "") {
    return ok({ resource: "entities", table: name, keys: undefined });
  }
  const keys = parseKeys(inside);
  return keys.ok ? ok({ resource: "entity", table: name, keys: keys.value }) : keys;
}

/** A name that no table could have is simply not there. */
function identifyTable(inside: string | undefined): Result<TableAddress> {
  if (inside === undefined || inside === "") {
    return ok({ resource: "tables", table: "", keys: undefined });
  }
  const quoted = nameKeyForm.exec(inside.replace(/^TableName=/, ""))?.[1];
  if (quoted === undefined) return fail("InvalidInput");
  return ok({ resource: "table", table: unquote(quoted), keys: undefined });
}

function parseKeys(inside: string): Result<EntityKeys> {
  const match = entityKeysForm.exec(inside);
  if (match === null) return fail("InvalidInput");
  const [, first, one = "", second, other = ""] = match;
  if (unquote(one).length > keyUnitsMax || unquote(other).length > keyUnitsMax) {
    return fail("KeyValueTooLarge");
  }
  if (first === "PartitionKey" && second === "RowKey") {
    return ok({ partitionKey: unquote(one), rowKey: unquote(other) });
  }
  if (first === "RowKey" && second === "PartitionKey") {
    return ok({ partitionKey: unquote(other), rowKey: unquote(one) });
  }
  return fail("InvalidInput");
}

function unquote(text: string): string {
  return text.replaceAll("''", "'");
}

/** `t(PartitionKey='p',RowKey='r')`, as links and locations write it. */
export function entityPath(table: string, { partitionKey, rowKey }: EntityKeys): string {
  if (table !== last.table || partitionKey !== last.partitionKey) {
    const start = `${table}(PartitionKey='${quote(partitionKey)}',RowKey='`;
    last = { table, partitionKey, start };
  }
  return `${last.start}${quote(rowKey)}')`;
}

/** Entities that are told of together lie mostly in one partition. */
let last = { table: "", partitionKey: "", start: "(PartitionKey='',RowKey='" };

/** What every encoding leaves as it is. */
const plainKeyForm = /^[\w.-]*$/;

function quote(key: string): string {
  if (plainKeyForm.test(key)) return key;
  const wellFormed = key.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
  return encodeURIComponent(wellFormed).replaceAll("'", "''");
}
