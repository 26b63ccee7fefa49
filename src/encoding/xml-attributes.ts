import { decodeXmlText } from "./xml-entities.ts";

const attributesMax = 32;
const attributeUnitsMax = 64 * 1024;
const attributeForm =
  /[ \t\r\n]+([\p{L}_][\p{L}\p{N}\p{M}_.\-:]*)[ \t\r\n]*=[ \t\r\n]*(?:"([^<"]*)"|'([^<']*)')/uy;
const spaceForm = /[ \t\r\n]*/y;

export interface ReadAttributes {
  readonly attributes: Readonly<Record<string, string>>;
  /** Offset after the last attribute and the white space that follows it. */
  readonly at: number;
}

/** Parses attributes from the end of a tag name. Returns the offset of a malformed attribute as a
 *  number. */
export function readAttributes(text: string, from: number): ReadAttributes | number {
  const pairs = new Map<string, string>();
  const names = new Set<string>();
  attributeForm.lastIndex = from;
  let at = from;
  for (let found = attributeForm.exec(text); found !== null; found = attributeForm.exec(text)) {
    const name = found[1] ?? "";
    const raw = found[2] ?? found[3] ?? "";
    if (raw.length > attributeUnitsMax) return at;
    const value = decodeXmlText(raw);
    if (typeof value === "number" || names.has(name) || names.size >= attributesMax) return at;
    names.add(name);
    if (name !== "xmlns" && !name.startsWith("xmlns:")) {
      pairs.set(name.slice(name.indexOf(":") + 1), value);
    }
    at = attributeForm.lastIndex;
  }
  spaceForm.lastIndex = at;
  spaceForm.exec(text);
  return { attributes: Object.fromEntries(pairs), at: spaceForm.lastIndex };
}
