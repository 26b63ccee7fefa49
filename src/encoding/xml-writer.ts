import { isXmlText } from "./xml-characters.ts";

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

/** Escapes text content. XML parsers convert a carriage return to a line feed, so it is written as
 *  a character reference. */
export function escapeText(text: string): string {
  return /[&<>\r]/.test(text) ? text.replaceAll(/[&<>\r]/g, escapeOf) : text;
}

export function escapeAttribute(text: string): string {
  return /[&<>"\r\n\t]/.test(text) ? text.replaceAll(/[&<>"\r\n\t]/g, escapeOf) : text;
}

/** `<name>text</name>`; an empty string for `undefined`, `<name />` for an empty text. */
export function textElement(name: string, value: string | number | bigint | undefined): string {
  if (value === undefined) return "";
  const text = escapeText(String(value));
  return text === "" ? `<${name} />` : `<${name}>${text}</${name}>`;
}

/** As `textElement` without escaping and for non-empty texts, such as dates and numbers. */
export function plainElement(name: string, text: string | number): string {
  return `<${name}>${text}</${name}>`;
}

/** An element around inner XML. */
export function element(
  name: string,
  inner: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const open = withAttributes(name, attributes);
  return inner === "" ? `<${open} />` : `<${open}>${inner}</${name}>`;
}

/** The start tag alone, for an element whose content is written later. */
export function startTag(name: string, attributes: Readonly<Record<string, string>>): string {
  return `<${withAttributes(name, attributes)}>`;
}

function withAttributes(name: string, attributes: Readonly<Record<string, string>>): string {
  let open = name;
  for (const [key, value] of Object.entries(attributes)) {
    open += ` ${key}="${escapeAttribute(value)}"`;
  }
  return open;
}

/** The element of a name in a listing. A name that XML cannot represent is percent-encoded and
 *  marked `Encoded="true"`. */
export function nameElement(name: string, value: string): string {
  if (isXmlText(value)) return textElement(name, value);
  return `<${name} Encoded="true">${encodeName(value)}</${name}>`;
}

/** Percent-encodes a name. Replaces surrogates without their pair, for which `encodeURIComponent`
 *  would throw: one such name must not make a listing fail. */
function encodeName(value: string): string {
  const wellFormed = value.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
  return encodeURIComponent(wellFormed);
}

function escapeOf(character: string): string {
  return escapes[character] ?? character;
}
