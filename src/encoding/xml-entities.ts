/** Entities, line ends and illegal characters of XML texts. Used by the parser (`xml-reader.ts`)
 *  and, for characters that XML cannot represent, by the writer. */

const predefined: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Longest entity that is looked for, in UTF-16 code units: `&#x10FFFF;` with some leading
 *  zeros. */
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

/** Normalises line ends to line feeds, as XML requires; a carriage return of a text is written as
 *  an entity. */
export function withLineFeeds(text: string): string {
  return text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
}

function entityCharacter(name: string): string | undefined {
  if (Object.hasOwn(predefined, name)) return predefined[name];
  const decimal = /^#(\d+)$/.exec(name);
  const hexadecimal = /^#x([0-9A-Fa-f]+)$/.exec(name);
  const code = Number.parseInt(decimal?.[1] ?? hexadecimal?.[1] ?? "", decimal === null ? 16 : 10);
  const character = code <= codePointMax ? String.fromCodePoint(code) : "";
  return character !== "" && isXmlText(character) ? character : undefined;
}

const codePointMax = 0x10ffff;

/** Characters that XML 1.0 cannot represent, not even escaped; surrogates without their pair are
 *  among them. */
const illegal = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Offset of the first character that XML cannot represent; -1 if there is none. */
export function firstIllegalCharacter(text: string): number {
  return text.search(illegal);
}

/** Like `firstIllegalCharacter`, as a generator that yields after each step of so many UTF-16 code
 *  units: the caller lets other requests run in between. */
export function* searchIllegalCharacter(
  text: string,
  stepUnits: number,
): Generator<undefined, number> {
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + stepUnits, text.length);
    // A step must not end between the two units of a surrogate pair.
    if (to < text.length && (text.codePointAt(to - 1) ?? 0) > 0xffff) to += 1;
    const found = firstIllegalCharacter(text.slice(from, to));
    if (found >= 0) return from + found;
    from = to;
    yield;
  }
  return -1;
}

/** Whether XML can represent the text. Listings percent-encode other names and mark them with
 *  `Encoded="true"`. */
export function isXmlText(text: string): boolean {
  return !illegal.test(text);
}
