/** Texts that break documents and header lines if they are written as they are. */
export const hostileTexts = [
  "\u0000",
  "a\u0001b",
  "a\u000bb",
  "\u001f",
  "\u007f",
  "\u0085\u2028",
  "a\rb",
  "a\nb",
  "a\tb",
  "a\r\nx-injected: 1\r\n\r\nHTTP/1.1 200 OK",
  "\ufffe",
  "a\uffff",
  "\ud83d\ude00",
  "]]>",
  "<a>&b;\"'",
  '","a":"',
  "--b--",
  "é",
] as const;

/** One of each kind, for tests that send them in many places. */
export const someHostileTexts = [
  "\u0000",
  "a\u0001b",
  "a\r\nx-injected: 1\r\n\r\nHTTP/1.1 200 OK",
  "a\uffff",
  "<a>&b;\"'",
] as const;

/** Percent-encoded forms that decode to no text: a surrogate, an overlong zero, a lone byte. */
export const hostileEscapes = ["%ED%A0%80", "%C0%80", "%FF", "%", "%zz"] as const;

/** A text as the value of a header: its bytes, without those that would end the line. */
export function headerValue(text: string): string {
  return Buffer.from(text.replaceAll(/[\r\n\0]/g, "")).toString("latin1");
}
