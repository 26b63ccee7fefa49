const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Strict, unlike `Buffer`: wrong length, padding or letters give `undefined`. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!base64Form.test(text)) return undefined;
  return new Uint8Array(Buffer.from(text, "base64"));
}

export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/** The number of bytes a well-formed text stands for, without making them. */
export function base64ByteLength(text: string): number | undefined {
  if (!base64Form.test(text)) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

/** Whether the unused bits of the last letter are zero, so that equal bytes mean equal texts. */
export function isCanonicalBase64(text: string): boolean {
  if (!base64Form.test(text)) return false;
  if (!text.endsWith("=")) return true;
  const unusedBits = text.endsWith("==") ? 0b1111 : 0b11;
  const last = text.charAt(text.indexOf("=") - 1);
  return (alphabet.indexOf(last) & unusedBits) === 0;
}
