/** Many clients send Base64; if it is text underneath, that is what one wants to read. */
export function readableText(text: string): string {
  if (text.length < 4 || text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return text;
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return isPrintable(decoded) ? decoded : text;
  } catch {
    return text;
  }
}

function isPrintable(text: string): boolean {
  return [...text].every((letter) => letter >= " " || "\n\r\t".includes(letter));
}

export function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
