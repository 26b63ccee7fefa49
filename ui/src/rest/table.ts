import { mapped, type Result } from "../result.ts";
import type { Page } from "./container.ts";
import { parseEntities, readEntity, writeEntity, type Entity } from "./entity.ts";
import { request, bodyText, type PathPart } from "./request.ts";

const json = "application/json;odata=nometadata";
/** Type of requests for entities: only full metadata includes types and ETags. */
const fullJson = "application/json;odata=fullmetadata";

interface TableName {
  readonly name: string;
}

export async function listTables(
  account: string,
  { prefix, marker }: { readonly prefix: string; readonly marker: string | undefined },
): Promise<Result<Page<TableName>>> {
  const upTo = `${prefix}{`;
  const filter = `TableName ge '${quoted(prefix)}' and TableName lt '${quoted(upTo)}'`;
  const answer = await request("table", [account, "Tables"], {
    query: { $filter: prefix === "" ? undefined : filter, NextTableName: marker },
    headers: { accept: json },
  });
  if (!answer.ok) return answer;
  const { value } = JSON.parse(bodyText(answer.value)) as { value: { TableName: string }[] };
  const next = answer.value.headers.get("x-ms-continuation-nexttablename") ?? undefined;
  return { ok: true, value: { rows: value.map(({ TableName }) => ({ name: TableName })), next } };
}

export function quoted(text: string): string {
  return text.replaceAll("'", "''");
}

export function createTable(account: string, name: string): Promise<Result<unknown>> {
  return request("table", [account, "Tables"], {
    method: "POST",
    headers: { accept: json, "content-type": "application/json", prefer: "return-no-content" },
    body: JSON.stringify({ TableName: name }),
  });
}

export function deleteTable(account: string, name: string): Promise<Result<unknown>> {
  return request("table", [account, `Tables('${quoted(name)}')`], {
    method: "DELETE",
    headers: { accept: json },
  });
}

export interface TableAddress {
  readonly account: string;
  readonly table: string;
}

interface EntityQuery {
  readonly filter: string;
  readonly select?: string;
  readonly marker: string | undefined;
  readonly resultsMax: number;
  readonly signal?: AbortSignal | undefined;
}

/** Queries one page of entities. The marker contains both continuation keys, which the service
 *  expects separately. */
export async function queryEntities(
  { account, table }: TableAddress,
  { filter, select, marker, resultsMax, signal }: EntityQuery,
): Promise<Result<Page<Entity>>> {
  const [partition, row] = (marker ?? "").split("\n", 2);
  const answer = await request("table", [account, `${table}()`], {
    query: {
      $filter: filter || undefined,
      $select: select || undefined,
      $top: resultsMax,
      NextPartitionKey: partition || undefined,
      NextRowKey: row || undefined,
    },
    headers: { accept: fullJson },
    signal,
  });
  if (!answer.ok) return answer;
  const found = parseEntities(bodyText(answer.value))["value"];
  const rows = (found as readonly Record<string, unknown>[]).map(readEntity);
  const nextPartition = answer.value.headers.get("x-ms-continuation-nextpartitionkey");
  const nextRow = answer.value.headers.get("x-ms-continuation-nextrowkey");
  const next = nextPartition === null ? undefined : `${nextPartition}\n${nextRow ?? ""}`;
  return { ok: true, value: { rows, next } };
}

interface EntityAddress extends TableAddress {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** The path of an entity. Keys are escaped here, because `/` in a key is no separator. */
function entityPath(address: EntityAddress): readonly [string, PathPart] {
  const escape = (key: string): string => encodeURIComponent(quoted(key));
  const partition = escape(address.partitionKey);
  const row = escape(address.rowKey);
  return [
    address.account,
    { escaped: `${address.table}(PartitionKey='${partition}',RowKey='${row}')` },
  ];
}

export async function getEntity(address: EntityAddress): Promise<Result<Entity>> {
  const answer = await request("table", entityPath(address), { headers: { accept: fullJson } });
  if (!answer.ok) return answer;
  return { ok: true, value: readEntity(parseEntities(bodyText(answer.value))) };
}

const body = { accept: json, "content-type": "application/json" } as const;

export async function insertEntity(
  { account, table }: TableAddress,
  entity: Pick<Entity, "partitionKey" | "rowKey" | "properties">,
): Promise<Result<string>> {
  const answer = await request("table", [account, table], {
    method: "POST",
    headers: { ...body, prefer: "return-no-content" },
    body: JSON.stringify(writeEntity(entity)),
  });
  return mapped(answer, ({ headers }) => headers.get("etag") ?? "");
}

/** Replaces an entity; without `ifMatch` by Insert Or Replace, which also creates it. */
export async function replaceEntity(
  address: EntityAddress,
  properties: Entity["properties"],
  ifMatch: string | undefined,
): Promise<Result<string>> {
  const answer = await request("table", entityPath(address), {
    method: "PUT",
    headers: { ...body, "if-match": ifMatch },
    body: JSON.stringify(writeEntity({ ...address, properties })),
  });
  return mapped(answer, ({ headers }) => headers.get("etag") ?? "");
}

export function deleteEntity(address: EntityAddress, ifMatch: string): Promise<Result<unknown>> {
  return request("table", entityPath(address), {
    method: "DELETE",
    headers: { ...body, "if-match": ifMatch },
  });
}
