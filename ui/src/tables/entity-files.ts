import { formatCsvField, parseCsv } from "../blobs/csv.ts";
import {
  isEdmType,
  parseEntities,
  readEntity,
  writeEntity,
  type EdmType,
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

/** How the columns of a CSV file become entities. */
export interface CsvPlan {
  /** Names of the columns with the keys. */
  readonly partitionKey: string;
  readonly rowKey: string;
  /** Types of the other columns; those without a type are left out. */
  readonly types: Readonly<Record<string, EdmType | undefined>>;
}

const planRowsMax = 1000;
const ownColumns = ["PartitionKey", "RowKey", "Timestamp", ""];

/** The columns of a CSV file, its first rows, and the types that its values have. */
export function readCsv(text: string): {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly plan: CsvPlan;
} {
  const [head = [], ...rows] = parseCsv(text, { rowsMax: planRowsMax });
  const columns = head.filter((name) => name !== "" && !name.endsWith("@type"));
  const partitionKey = columns.find((name) => name === "PartitionKey") ?? columns[0] ?? "";
  const others = columns.filter((name) => name !== partitionKey);
  const rowKey = others.find((name) => name === "RowKey") ?? others[0] ?? "";
  const types = columns
    .filter((name) => name !== partitionKey && name !== rowKey && name !== "Timestamp")
    .map((name) => [name, typeOf(rows.map((row) => row[head.indexOf(name)] ?? ""))] as const);
  return { head, rows, plan: { partitionKey, rowKey, types: Object.fromEntries(types) } };
}

const forms: readonly (readonly [EdmType, RegExp])[] = [
  ["Edm.Boolean", /^(true|false)$/],
  ["Edm.Int32", /^-?(0|[1-9]\d{0,8})$/],
  ["Edm.Int64", /^-?(0|[1-9]\d{0,17})$/],
  ["Edm.Double", /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/],
  ["Edm.DateTime", /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/],
  ["Edm.Guid", /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i],
];

/** The narrowest type that all values have; empty values have none. */
function typeOf(values: readonly string[]): EdmType {
  const filled = values.filter((value) => value !== "");
  if (filled.length === 0) return "Edm.String";
  const found = forms.find(([, form]) => filled.every((value) => form.test(value)));
  return found?.[0] ?? "Edm.String";
}

/** The entities of a CSV file. A column `Count@type` has the types of `Count`; without one the plan
 *  has its type. */
export function csvToEntities(text: string, plan?: CsvPlan): readonly Plain[] {
  const [head = [], ...rows] = parseCsv(text);
  const at = (name: string): number => head.indexOf(name);
  const { partitionKey = "PartitionKey", rowKey = "RowKey", types } = plan ?? {};
  const keys = new Set([...ownColumns, partitionKey, rowKey]);
  const names = head.filter(
    (name) =>
      !keys.has(name) &&
      !name.endsWith("@type") &&
      (types === undefined || types[name] !== undefined),
  );
  return rows.map((row) => {
    const properties: Record<string, Property> = {};
    for (const name of names) {
      const value = row[at(name)] ?? "";
      const type = row[at(`${name}@type`)] ?? "";
      // Value and type are both empty: the entity has no such property.
      if (value === "" && type === "") continue;
      const planned = types?.[name] ?? "Edm.String";
      properties[name] = { type: isEdmType(type) ? type : planned, text: value };
    }
    return {
      partitionKey: row[at(partitionKey)] ?? "",
      rowKey: row[at(rowKey)] ?? "",
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
