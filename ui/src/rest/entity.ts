/** Types of entity properties. */
export const edmTypes = [
  "Edm.String",
  "Edm.Int32",
  "Edm.Int64",
  "Edm.Double",
  "Edm.Boolean",
  "Edm.DateTime",
  "Edm.Guid",
  "Edm.Binary",
] as const;

export type EdmType = (typeof edmTypes)[number];

export interface Property {
  readonly type: EdmType;
  /** The value as text, as in an input field. */
  readonly text: string;
}

export interface Entity {
  readonly partitionKey: string;
  readonly rowKey: string;
  readonly timestamp: string;
  readonly etag: string;
  readonly properties: Readonly<Record<string, Property>>;
}

type Json = Readonly<Record<string, unknown>>;

/** Distinguishes `1.0`, a Double, from `1`, which `JSON.parse` does not. */
class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

export function parseEntities(text: string): Json {
  const keepNumbers: Reviver = (_key, value, context) =>
    typeof value === "number" ? new NumberText(context?.source ?? String(value)) : value;
  return JSON.parse(text, keepNumbers) as Json;
}

const ownNames: ReadonlySet<string> = new Set(["PartitionKey", "RowKey", "Timestamp"]);

export function readEntity(json: Json): Entity {
  const properties: Record<string, Property> = {};
  for (const [name, value] of Object.entries(json)) {
    if (ownNames.has(name) || name.includes("odata.") || value === null) continue;
    properties[name] = readProperty(value, json[`${name}@odata.type`]);
  }
  return {
    partitionKey: wordOf(json["PartitionKey"]),
    rowKey: wordOf(json["RowKey"]),
    timestamp: wordOf(json["Timestamp"]),
    etag: wordOf(json["odata.etag"]),
    properties,
  };
}

function wordOf(value: unknown): string {
  if (value instanceof NumberText) return value.text;
  return typeof value === "string" || typeof value === "boolean" ? String(value) : "";
}

function readProperty(value: unknown, declared: unknown): Property {
  const text = wordOf(value);
  if (typeof declared === "string" && isEdmType(declared)) return { type: declared, text };
  if (typeof value === "boolean") return { type: "Edm.Boolean", text };
  if (!(value instanceof NumberText)) return { type: "Edm.String", text };
  return { type: /[.eE]/.test(text) ? "Edm.Double" : "Edm.Int32", text };
}

export function isEdmType(text: string): text is EdmType {
  return edmTypes.some((type) => type === text);
}

/** An entity as JSON, with an `@odata.type` for every property, so that the service infers no
 *  type. */
export function writeEntity(
  entity: Pick<Entity, "partitionKey" | "rowKey" | "properties">,
): Record<string, unknown> {
  const json: Record<string, unknown> = {
    PartitionKey: entity.partitionKey,
    RowKey: entity.rowKey,
  };
  for (const [name, { type, text }] of Object.entries(entity.properties)) {
    json[`${name}@odata.type`] = type;
    if (type === "Edm.Boolean") json[name] = text.toLowerCase() === "true";
    else if (type === "Edm.Int32") json[name] = Number(text);
    else if (type === "Edm.Double") json[name] = doubleOf(text);
    else json[name] = text;
  }
  return json;
}

/** The JSON value of a Double. JSON has no infinity and NaN; the service accepts them as
 *  strings. */
function doubleOf(text: string): number | string {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** One line per property, to merge two states of an entity. */
export function entityToText({ properties }: Pick<Entity, "properties">): string {
  return Object.entries(properties)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { type, text }]) => `${name} (${type.slice(4)}): ${JSON.stringify(text)}`)
    .join("\n");
}

export function textToProperties(lines: string): Readonly<Record<string, Property>> {
  const pairs = lines.split("\n").flatMap((line) => {
    const found = /^(.+?) \((\w+)\): (.*)$/.exec(line);
    if (found === null) return [];
    const [, name = "", word = "", value = ""] = found;
    const type = `Edm.${word}`;
    const property: Property = {
      type: isEdmType(type) ? type : "Edm.String",
      text: unquoted(value),
    };
    return [[name, property] as const];
  });
  return Object.fromEntries(pairs);
}

function unquoted(value: string): string {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "string" ? parsed : value;
  } catch {
    return value;
  }
}
