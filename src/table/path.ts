import type { EntityKeys } from "../protocol/principal.ts";
import { checkTableName } from "../protocol/names.ts";
import type { Address } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { QueryReader } from "../operation/service.ts";
import { keyUnitsMax } from "./edm/edm.ts";

/** The paths of URLs of the Table service, in which entities have the OData notation of keys. */

/** What a path addresses. */
export interface TableAddress extends Address {
  /** `tables` and `entities` are collections; `nested` is a path below a table that ends with
   *  `)`. */
  readonly resource: "service" | "batch" | "tables" | "table" | "entities" | "entity" | "nested";
  /** Name of the table. Empty if the path names none. */
  readonly table: string;
  readonly keys: EntityKeys | undefined;
  /** Set if the path has a segment after the table, where no resource exists: Query Entities then
   *  fails, Insert Entity ignores the segment. */
  readonly isBelowTable?: true;
}

/** `name`, optionally parentheses, optionally more segments. The pattern reads `''` as the end of
 *  one quoted text and the start of the next. A second alternative for `''` would make matching
 *  exponential. */
const pathForm = /^([^(/]*)(?:\(((?:[^']|'[^']*')*?)\))?(\/.*)?$/s;
const nameKeyForm = /^'((?:[^']|'')*)'$/;
const entityKeysForm = /^\s*(\w+)='((?:[^']|'')*)'\s*,\s*(\w+)='((?:[^']|'')*)'\s*$/;

/** Finds what a URL path addresses: `/`, `/$batch`, `/Tables`, `/Tables('t')`, `/t()` or
 *  `/t(PartitionKey='p',RowKey='r')`. */
export function identify(path: string, query: QueryReader): Result<TableAddress> {
  const at = { table: "", keys: undefined };
  if (path === "") return ok({ resource: "service", ...at });
  if (path === "$batch") return ok({ resource: "batch", ...at });
  const match = pathForm.exec(path);
  if (match === null) return fail("InvalidInput");
  const [, name = "", inside, rest] = match;
  // Azurite accepts `/Tables/`, and some clients send it.
  const endsAfterTable = rest === undefined || rest === "/";
  if (name.toLowerCase() === "tables" && endsAfterTable) return identifyTable(inside);
  const named = checkTableName(name);
  if (!named.ok) return named;
  if (!endsAfterTable) {
    const resource = rest.endsWith(")") ? "nested" : "entities";
    return ok({ resource, table: name, keys: undefined, isBelowTable: true });
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

/** What `/Tables` or `/Tables('name')` addresses; `inside` is the text in the parentheses. A name
 *  that violates the naming rules is no fault: the table will not be found. */
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

/** `t(PartitionKey='p',RowKey='r')`: the path of an entity in links and in Location. */
export function entityPath(table: string, { partitionKey, rowKey }: EntityKeys): string {
  return `${table}(PartitionKey='${quoteKey(partitionKey)}',RowKey='${quoteKey(rowKey)}')`;
}

/** Matches keys that need neither percent-encoding nor doubled quotes: most keys, which are
 *  therefore returned unchanged. */
const plainKeyForm = /^[\w.-]*$/;

function quoteKey(key: string): string {
  if (plainKeyForm.test(key)) return key;
  const wellFormed = key.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
  return encodeURIComponent(wellFormed).replaceAll("'", "''");
}
