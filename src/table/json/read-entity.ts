import { once } from "../../process/memo.ts";
import { withSubject } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import {
  edm,
  edmTypeOf,
  parseDouble,
  parseInt32,
  parseValue,
  type EdmType,
  type TypedValue,
} from "../edm/edm.ts";
import {
  EntityBuilder,
  isKeyName,
  malformedEntity,
  type EntityInput,
} from "../entity/entity-input.ts";
import { FlatJsonParser, type JsonScalar } from "./flat-json.ts";

/** Reads an entity from a JSON body, in which OData annotations (`Age@odata.type`) declare the
 *  types of properties. `table/entity/change-entity.ts` calls it. */

const annotation = "@odata.type";
/** Set by the server: a value in a request is ignored. */
const timestamp = "Timestamp";
const timestampAnnotation = `${timestamp}${annotation}`;

/** One parser for all entities: the next one often has the names that the parser knows. */
const reusedParser = once(() => new FlatJsonParser());
const reusedBuilder = once(() => new EntityBuilder());

/** Parses an entity with any level of OData metadata. Annotations other than types are ignored. */
export function readJsonEntity(text: string): Result<EntityInput> {
  const reader = reusedParser();
  const builder = reusedBuilder();
  if (!reader.read(text)) return malformedEntity("JSON body");
  const { names, values, count } = reader;
  const types = readAnnotations(reader);
  if (typeof types === "string") return malformedEntity(types);
  builder.start();
  for (let index = 0; index < count; index += 1) {
    const name = names[index]!;
    if (name.startsWith("odata.") || name.includes("@")) continue;
    const type = types === noTypes ? undefined : types.get(name);
    const sent = values[index]!;
    const isTypedKey = type !== undefined && type !== edm.string && isKeyName(name);
    if (isTypedKey && typeof sent === "string") {
      const added = builder.addTypedKey(name, sent);
      if (!added.ok) return withSubject(added, `property ${name}`);
      continue;
    }
    const value = name === timestamp ? undefined : parseJsonValue(type, sent);
    if (value === "malformed") return malformedEntity(`property ${name}`);
    const added = builder.add(name, value);
    if (!added.ok) return withSubject(added, `property ${name}`);
  }
  return ok(builder.entity);
}

const noTypes: ReadonlyMap<string, EdmType> = new Map();

/** Returns the annotated types by property, or the name of an invalid annotation. */
function readAnnotations({ names, values, count }: FlatJsonParser): typeof noTypes | string {
  let types: Map<string, EdmType> | undefined;
  for (let index = 0; index < count; index += 1) {
    const name = names[index]!;
    if (!name.endsWith(annotation) || name === annotation) continue;
    if (name === timestampAnnotation) continue;
    const value = values[index];
    const type = typeof value === "string" ? edmTypeOf(value) : undefined;
    if (type === undefined) return `annotation ${name}`;
    types ??= new Map();
    types.set(name.slice(0, -annotation.length), type);
  }
  return types ?? noTypes;
}

/** Converts the JSON value of a property; undefined for null. `type` is that of its annotation,
 *  with which numbers and booleans may also be quoted (recorded from Azure). */
function parseJsonValue(
  type: EdmType | undefined,
  value: JsonScalar,
): TypedValue | undefined | "malformed" {
  if (value === null) return undefined;
  if (type === undefined) return inferType(value) ?? "malformed";
  if (typeof value === "boolean") {
    return type === edm.boolean ? { type, value } : "malformed";
  }
  if (typeof value === "string") return parseValue(type, value) ?? "malformed";
  const numeric = type === edm.int32 || type === edm.int64 || type === edm.double;
  return (numeric ? parseValue(type, value.number) : undefined) ?? "malformed";
}

function inferType(value: Exclude<JsonScalar, null>): TypedValue | undefined {
  if (typeof value === "string") return { type: edm.string, value };
  if (typeof value === "boolean") return { type: edm.boolean, value };
  const { number } = value;
  return /[.eE]/.test(number) ? parseDouble(number) : parseInt32(number);
}
