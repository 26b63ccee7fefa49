import { formatCsvField, parseCsv } from "../blobs/csv.ts";
import {
  isEdmType,
  parseEntities,
  readEntity,
  writeEntity,
  type Entity,
  type Property,
} from "../rest/entity.ts";

export type Plain = Pick<Entity, "partitionKey" | "rowKey" | "properties">;

/** Converts entities to CSV. A column such as `Count` is followed by `Count@type`, so that an
 *  import restores the types. */
export function entitiesToCsv(entities: readonly Plain[]): string {
  const names = [...new Set(entities.flatMap(({ properties }) => Object.keys(properties)))];
  const head = ["PartitionKey", "RowKey", ...names.flatMap((name) => [name, `${name}@type`])];
  const rows = entities.map(({ partitionKey, rowKey, properties }) => [
    partitionKey,
    rowKey,
    ...names.flatMap((name) => {
      const property = properties[name];
      return property === undefined ? ["", ""] : [property.text, property.type];
    }),
  ]);
  return [head, ...rows].map((row) => row.map(formatCsvField).join(",")).join("\r\n");
}

export function entitiesToJson(entities: readonly Plain[]): string {
  return JSON.stringify(entities.map(writeEntity), null, 2);
}

export function csvToEntities(text: string): readonly Plain[] {
  const [head = [], ...rows] = parseCsv(text);
  const at = (name: string): number => head.indexOf(name);
  const names = head.filter(
    (name) =>
      !["PartitionKey", "RowKey", "Timestamp", ""].includes(name) && !name.endsWith("@type"),
  );
  return rows.map((row) => {
    const properties: Record<string, Property> = {};
    for (const name of names) {
      const value = row[at(name)] ?? "";
      const type = row[at(`${name}@type`)] ?? "";
      // Value and type are both empty: the entity has no such property.
      if (value === "" && type === "") continue;
      properties[name] = { type: isEdmType(type) ? type : "Edm.String", text: value };
    }
    return {
      partitionKey: row[at("PartitionKey")] ?? "",
      rowKey: row[at("RowKey")] ?? "",
      properties,
    };
  });
}

export function jsonToEntities(text: string): readonly Plain[] {
  const parsed: unknown = parseEntities(text);
  const list = Array.isArray(parsed) ? parsed : (parsed as { value?: unknown })?.value;
  if (!Array.isArray(list)) return [];
  return (list as readonly Record<string, unknown>[]).map(readEntity);
}
