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

/** A carriage return would reach the reader as a line feed, so it is written as a number. */
export function escapeText(text: string): string {
  return /[&<>\r]/.test(text) ? text.replaceAll(/[&<>\r]/g, escapeOf) : text;
}

export function escapeAttribute(text: string): string {
  return /[&<>"\r\n\t]/.test(text) ? text.replaceAll(/[&<>"\r\n\t]/g, escapeOf) : text;
}

/** `<name>text</name>`; nothing at all for `undefined`, `<name />` for an empty text. */
export function textElement(name: string, value: string | number | bigint | undefined): string {
  if (value === undefined) return "";
  const text = escapeText(String(value));
  return text === "" ? `<${name} />` : `<${name}>${text}</${name}>`;
}

/** For text of our own making that needs no escaping, such as dates and numbers. */
export function plainElement(name: string, text: string | number): string {
  return `<${name}>${text}</${name}>`;
}

/** Wraps what is already XML. */
export function element(
  name: string,
  inner: string,
  attributes: Readonly<Record<string, string>> = {},
): string {
  const open = withAttributes(name, attributes);
  return inner === "" ? `<${open} />` : `<${open}>${inner}</${name}>`;
}

/** The start of an element whose inside and end are written later. */
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

/** A name in a listing; one that XML cannot carry is percent-encoded and says so. */
export function nameElement(name: string, value: string): string {
  if (isXmlText(value)) return textElement(name, value);
  return `<${name} Encoded="true">${encodeName(value)}</${name}>`;
}

/** Lone surrogates cannot come from a URL, yet must not make a listing fail. */
function encodeName(value: string): string {
  const wellFormed = value.replaceAll(/\p{Surrogate}/gu, "\uFFFD");
  return encodeURIComponent(wellFormed);
}

function escapeOf(character: string): string {
  return escapes[character] ?? character;
}
