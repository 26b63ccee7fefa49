/** Characters that XML 1.0 cannot represent, not even escaped; surrogates without their pair are
 *  among them. */
const illegal = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/** Offset of the first character that XML cannot represent; -1 if there is none. */
export function firstIllegalCharacter(text: string): number {
  return text.search(illegal);
}

/** Whether XML can represent the text. Listings percent-encode other names and mark them with
 *  `Encoded="true"`. */
export function isXmlText(text: string): boolean {
  return !illegal.test(text);
}

export function isXmlCodePoint(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  if (code <= 0xd7ff) return true;
  return (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}
