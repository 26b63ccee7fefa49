/** Base64 of headers and stored values. `Buffer` alone would ignore characters that are not in the
 *  alphabet, so a malformed checksum or key would be accepted. */

const notInAlphabet = /[^A-Za-z0-9+/]/;

/** Whether the text consists of whole groups of four characters, the last one padded if necessary.
 *  A regular expression with a repeated group would need a stack as deep as the text is long. */
function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  const padding = paddingOf(text);
  return !notInAlphabet.test(padding === 0 ? text : text.slice(0, -padding));
}

/** Decodes strictly, unlike `Buffer`: undefined if length, padding or a character is wrong. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!isBase64(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "base64"));
}

export function encodeBase64(bytes: Uint8Array): string {
  return base64Slice.call(bytes, 0, bytes.length);
}

/** Node's undocumented `base64Slice`, called on a Uint8Array. A Buffer of the same bytes would move
 *  a short array out of the heap, which takes longer than the encoding. */
const { base64Slice } = Buffer.prototype as unknown as {
  readonly base64Slice: (this: Uint8Array, from: number, to: number) => string;
};

/** The length of the decoded bytes, without decoding them; `undefined` if the text is malformed. */
export function base64ByteLength(text: string): number | undefined {
  if (!isBase64(text)) return undefined;
  return (text.length / 4) * 3 - paddingOf(text);
}

function paddingOf(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}
