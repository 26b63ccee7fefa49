import { about } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { edm, edmTypeOf, type EdmType, type Typed } from "../edm/edm.ts";
import { parseDouble, parseInt32, parseValue } from "../edm/parse-value.ts";
import { EntityBuilder, unreadable, type EntityInput } from "../entity/entity-input.ts";
import { FlatJsonReader, type JsonScalar } from "./flat-json.ts";

const annotation = "@odata.type";
/** The server's own property: what a client sends for it is passed over, whatever its form. */
const timestamp = "Timestamp";
const timestampAnnotation = `${timestamp}${annotation}`;

/** One for all: what they make of a body is copied out of them before the next comes. */
const reader = new FlatJsonReader();
const builder = new EntityBuilder();

/** An entity in any of the JSON forms; what a server would annotate is passed over. */
export function readJsonEntity(text: string): Result<EntityInput> {
  if (!reader.read(text)) return unreadable("JSON body");
  const { names, values, count } = reader;
  const types = readAnnotations(reader);
  if (typeof types === "string") return unreadable(types);
  builder.start();
  for (let index = 0; index < count; index += 1) {
    const name = names[index]!;
    if (name.startsWith("odata.") || name.includes("@")) continue;
    const type = types === noTypes ? undefined : types.get(name);
    const typed = name === timestamp ? undefined : typedOf(type, values[index]!);
    if (typed === "wrong") return unreadable(`property ${name}`);
    const added = builder.add(name, typed);
    if (!added.ok) return about(added, `property ${name}`);
  }
  return ok(builder.entity);
}

const noTypes: ReadonlyMap<string, EdmType> = new Map();

/** A text names the annotation that is no type. */
function readAnnotations({ names, values, count }: FlatJsonReader): typeof noTypes | string {
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

/** Undefined for null. Quoted numbers and booleans are taken if the annotation asks (recorded). */
function typedOf(type: EdmType | undefined, value: JsonScalar): Typed | undefined | "wrong" {
  if (value === null) return undefined;
  if (type === undefined) return plain(value) ?? "wrong";
  if (typeof value === "boolean") {
    return type === edm.boolean ? { type, value } : "wrong";
  }
  if (typeof value === "string") return parseValue(type, value) ?? "wrong";
  const numeric = type === edm.int32 || type === edm.int64 || type === edm.double;
  return (numeric ? parseValue(type, value.number) : undefined) ?? "wrong";
}

function plain(value: Exclude<JsonScalar, null>): Typed | undefined {
  if (typeof value === "string") return { type: edm.string, value };
  if (typeof value === "boolean") return { type: edm.boolean, value };
  const { number } = value;
  return /[.eE]/.test(number) ? parseDouble(number) : parseInt32(number);
}
