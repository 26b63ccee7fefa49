import { withSubject } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { parseXml, xmlChild } from "../../encoding/xml.ts";
import { edm, edmTypeOf, type TypedValue } from "../edm/edm.ts";
import { parseValue } from "../edm/parse-value.ts";
import { EntityBuilder, malformedEntity, type EntityInput } from "../entity/entity-input.ts";

/** Parses an Atom entry: `entry/content/properties`, with one element per property. */
export function readAtomEntity(text: string): Result<EntityInput> {
  const document = parseXml(text);
  if (!document.ok || document.value.name !== "entry") return malformedEntity();
  const content = xmlChild(document.value, "content");
  const properties = content && xmlChild(content, "properties");
  if (properties === undefined) return malformedEntity();
  const builder = new EntityBuilder();
  for (const { name, attributes, children, text: inner } of properties.children) {
    const isIgnored = name === "Timestamp";
    if (children.length > 0 && !isIgnored) return malformedEntity(`property ${name}`);
    const value = isIgnored ? undefined : parseAtomValue(attributes, inner);
    if (value === "malformed") return malformedEntity(`property ${name}`);
    const added = builder.add(name, value);
    if (!added.ok) return withSubject(added, `property ${name}`);
  }
  return ok(builder.entity);
}

/** Undefined if the element is null. */
function parseAtomValue(
  attributes: Readonly<Record<string, string>>,
  text: string,
): TypedValue | undefined | "malformed" {
  const attribute = (name: string) => attributes[name] ?? attributes[`m:${name}`];
  if (attribute("null") === "true") return undefined;
  const type = edmTypeOf(attribute("type") ?? "Edm.String");
  if (type === undefined) return "malformed";
  return parseValue(type, type === edm.string ? text : text.trim()) ?? "malformed";
}
