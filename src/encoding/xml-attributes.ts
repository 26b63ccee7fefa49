import { decodeXmlText } from "./xml-entities.ts";

// Limits of this server; attributes that exceed them are malformed. The length is in UTF-16 code
// units.
const attributesMax = 32;
const attributeUnitsMax = 64 * 1024;
const attributePattern =
  /[ \t\r\n]+([\p{L}_][\p{L}\p{N}\p{M}_.\-:]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^<"]*)"|'([^<']*)')/uy;
const spacePattern = /[ \t\r\n]*/y;

export interface ReadAttributes {
  readonly attributes: Readonly<Record<string, string>>;
  /** Offset after the last attribute and the white space that follows it. */
  readonly at: number;
}

/** Parses the attributes after a tag name. Returns the offset of a malformed attribute instead, as
 *  a number. Namespace declarations are skipped, and prefixes of names removed. */
export function readAttributes(text: string, from: number): ReadAttributes | number {
  const pairs = new Map<string, string>();
  const names = new Set<string>();
  attributePattern.lastIndex = from;
  let at = from;
  for (
    let found = attributePattern.exec(text);
    found !== null;
    found = attributePattern.exec(text)
  ) {
    const name = found[1] ?? "";
    const raw = found[2] ?? found[3] ?? "";
    if (raw.length > attributeUnitsMax) return at;
    const value = decodeXmlText(raw);
    if (typeof value === "number" || names.has(name) || names.size >= attributesMax) return at;
    names.add(name);
    if (name !== "xmlns" && !name.startsWith("xmlns:")) {
      pairs.set(name.slice(name.indexOf(":") + 1), value);
    }
    at = attributePattern.lastIndex;
  }
  spacePattern.lastIndex = at;
  spacePattern.exec(text);
  return { attributes: Object.fromEntries(pairs), at: spacePattern.lastIndex };
}
