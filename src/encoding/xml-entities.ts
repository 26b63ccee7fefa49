import { isXmlCodePoint } from "./xml-characters.ts";

const predefined: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Long enough for `&#x10FFFF;` with some leading zeros. */
const entityUnitsMax = 16;

/** Replaces entities by their characters and normalises line ends. Returns the offset of an unknown
 *  entity instead, as a number. */
export function decodeXmlText(text: string): string | number {
  let ampersand = text.indexOf("&");
  if (ampersand === -1) return withLineFeeds(text);
  let decoded = "";
  let from = 0;
  while (ampersand !== -1) {
    const end = text.indexOf(";", ampersand);
    if (end === -1 || end - ampersand > entityUnitsMax) return ampersand;
    const character = entityCharacter(text.slice(ampersand + 1, end));
    if (character === undefined) return ampersand;
    decoded += withLineFeeds(text.slice(from, ampersand)) + character;
    from = end + 1;
    ampersand = text.indexOf("&", from);
  }
  return decoded + withLineFeeds(text.slice(from));
}

/** Normalises line ends to line feeds, as XML requires; a literal carriage return is written as an
 *  entity. */
export function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
}

function entityCharacter(name: string): string | undefined {
  if (Object.hasOwn(predefined, name)) return predefined[name];
  const decimal = /^#(\d+)$/.exec(name);
  const hexadecimal = /^#x([0-9A-Fa-f]+)$/.exec(name);
  const code = Number.parseInt(decimal?.[1] ?? hexadecimal?.[1] ?? "", decimal === null ? 16 : 10);
  return isXmlCodePoint(code) ? String.fromCodePoint(code) : undefined;
}
