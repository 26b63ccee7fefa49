import { about } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { parseXml, xmlChild } from "../../encoding/xml.ts";
import { edm, edmTypeOf, type Typed } from "../edm/edm.ts";
import { parseValue } from "../edm/parse-value.ts";
import { EntityBuilder, unreadable, type EntityInput } from "../entity/entity-input.ts";

/** An Atom entry: `entry/content/properties`, one element for each property. */
export function readAtomEntity(text: string): Result<EntityInput> {
  const document = parseXml(text);
  if (!document.ok || document.value.name !== "entry") return unreadable();
  const content = xmlChild(document.value, "content");
  const properties = content && xmlChild(content, "properties");
  if (properties === undefined) return unreadable();
  const builder = new EntityBuilder();
  for (const { name, attributes, children, text: inner } of properties.children) {
    const isIgnored = name === "Timestamp";
    if (children.length > 0 && !isIgnored) return unreadable(`property ${name}`);
    const typed = isIgnored ? undefined : typedOf(attributes, inner);
    if (typed === "wrong") return unreadable(`property ${name}`);
    const added = builder.add(name, typed);
    if (!added.ok) return about(added, `property ${name}`);
  }
  return ok(builder.entity);
}

/** Undefined for null. */
function typedOf(
  attributes: Readonly<Record<string, string>>,
  text: string,
): Typed | undefined | "wrong" {
  const attribute = (name: string) => attributes[name] ?? attributes[`m:${name}`];
  if (attribute("null") === "true") return undefined;
  const type = edmTypeOf(attribute("type") ?? "Edm.String");
  if (type === undefined) return "wrong";
  return parseValue(type, type === edm.string ? text : text.trim()) ?? "wrong";
}
