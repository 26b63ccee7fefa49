/** GUIDs in the notations that clients send, for lease ids, message ids and values of entities. */

const compactPattern = /^[0-9a-f]{32}$/i;
const dashedPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Parses the four .NET formats (N compact, D dashed, B in braces, P in parentheses). Returns the
 *  lower-case dashed format, so that ids can be compared as strings; undefined if malformed. */
export function parseGuid(text: string): string | undefined {
  if (compactPattern.test(text)) return dashed(text.toLowerCase());
  const enclosed =
    (text.startsWith("{") && text.endsWith("}")) || (text.startsWith("(") && text.endsWith(")"));
  const inner = enclosed ? text.slice(1, -1) : text;
  return dashedPattern.test(inner) ? inner.toLowerCase() : undefined;
}

/** Formats 16 random bytes as a version 4 GUID (RFC 9562). */
export function guidFromBytes(bytes: Uint8Array): string {
  let digits = "";
  for (let index = 0; index < 16; index += 1) {
    let byte = bytes[index] ?? 0;
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    if (index === 8) byte = (byte & 0x3f) | 0x80;
    digits += byte.toString(16).padStart(2, "0");
  }
  return dashed(digits);
}

function dashed(digits: string): string {
  const groups = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)];
  return [...groups, digits.slice(16, 20), digits.slice(20)].join("-");
}
