import { isXmlText } from "./xml-entities.ts";

/** Renders the XML elements of responses as text. Each function returns a string, so that listings
 *  can render and cache single entries. */

export const byteOrderMark = "\uFEFF";
export const xmlDeclaration = '<?xml version="1.0" encoding="utf-8"?>';

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
  "\n": "&#xA;",
  "\t": "&#x9;",
};

/** Written in place of a character that XML cannot represent. */
const replacement = "\uFFFD";
/** Finds texts that may need escaping. Has no `u` flag, which would make the test slower, so it
 *  finds paired surrogates, too; `inText` decides. */
const mayNeedEscape = /[^\t\n\u0020-\u0025\u0027-\u003B\u003D\u003F-\uD7FF\uE000-\uFFFD]/;
const inText = /[&<>\r]|[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
/** Characters that are also escaped in attribute values, where white space would become spaces. */
const inQuotes = /["\n\t]/g;

/** Escapes text content, so the document is well-formed whatever the text is. XML parsers convert a
 *  carriage return to a line feed, so it is written as a character reference. Characters that XML
 *  cannot represent are replaced; a name with such characters is written by `nameElement`. */
export function escapeText(text: string): string {
  return mayNeedEscape.test(text) ? text.replaceAll(inText, escapeOf) : text;
}

/** `<name>text</name>`; an empty string for `undefined`, `<name />` for an empty text. */
export function textElement(name: string, value: string | number | bigint | undefined): string {
  if (value === undefined) return "";
  const text = escapeText(String(value));
  return text === "" ? `<${name} />` : `<${name}>${text}</${name}>`;
}

/** Like `textElement` without escaping, for non-empty texts that need none (dates, numbers). */
export function plainElement(name: string, text: string | number): string {
  return `<${name}>${text}</${name}>`;
}

/** An element whose content is rendered XML; `<name />` if it is empty. */
export function element(
  name: string,
  inner: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const open = withAttributes(name, attributes);
  return inner === "" ? `<${open} />` : `<${open}>${inner}</${name}>`;
}

/** The element `Metadata` of an entry in a listing. */
export function metadataElement(
  pairs: readonly (readonly [name: string, value: string])[],
): string {
  let inner = "";
  for (const [name, value] of pairs) inner += textElement(name, value);
  return element("Metadata", inner);
}

/** The start tag alone, for an element whose content is written later. */
export function startTag(name: string, attributes: Readonly<Record<string, string>>): string {
  return `<${withAttributes(name, attributes)}>`;
}

function withAttributes(name: string, attributes: Readonly<Record<string, string>>): string {
  let open = name;
  for (const [key, value] of Object.entries(attributes)) {
    open += ` ${key}="${escapeText(value).replaceAll(inQuotes, escapeOf)}"`;
  }
  return open;
}

/** The element of a name in a listing. A name that XML cannot represent is percent-encoded and
 *  marked `Encoded="true"`. */
export function nameElement(name: string, value: string): string {
  if (isXmlText(value)) return textElement(name, value);
  return `<${name} Encoded="true">${encodeName(value)}</${name}>`;
}

/** Percent-encodes a name. Replaces surrogates without a pair, for which `encodeURIComponent` would
 *  throw: one name with them must not make a listing fail. */
function encodeName(value: string): string {
  const wellFormed = value.replaceAll(/\p{Surrogate}/gu, replacement);
  return encodeURIComponent(wellFormed);
}

function escapeOf(character: string): string {
  return escapes[character] ?? replacement;
}
