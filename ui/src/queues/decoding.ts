import { createStore } from "../store.ts";
import { prettyJson } from "../blobs/pretty-json.ts";

export const decodings = [
  ["auto", "Automatic"],
  ["text", "Stored text"],
  ["base64", "Base64 decoded"],
  ["json", "JSON"],
] as const;

export type Decoding = (typeof decodings)[number][0];

const storageKey = "etagere-decoding";

function isDecoding(text: string | null): text is Decoding {
  return decodings.some(([name]) => name === text);
}

function kept(): Decoding {
  const text = localStorage.getItem(storageKey);
  return isDecoding(text) ? text : "auto";
}

/** How all views show the texts of messages; kept in the browser. */
export const decoding = createStore<Decoding>(kept());

export function setDecoding(text: string): void {
  if (!isDecoding(text)) return;
  decoding.set(text);
  localStorage.setItem(storageKey, text);
}

/** The text of a message as the user wants to see it. */
export function decoded(text: string, how: Decoding): string {
  if (how === "text") return text;
  if (how === "auto") return readableText(text);
  if (how === "json") return prettyJson(readableText(text));
  return base64Text(text) ?? text;
}

/** Decodes Base64, which many clients send, if the result is printable text. */
export function readableText(text: string): string {
  if (text.length < 4) return text;
  const found = base64Text(text);
  return found !== undefined && isPrintable(found) ? found : text;
}

/** The text in Base64; undefined if it is not Base64 of UTF-8. */
function base64Text(text: string): string | undefined {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function isPrintable(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- control characters are searched for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}

/** As `decoded`, for the start of a text: it may end inside a Base64 group or character. */
export function decodedStart(start: string, how: Decoding): string {
  if (how === "text" || !/^[A-Za-z0-9+/]+$/.test(start)) return `${start}…`;
  const groups = start.slice(0, start.length - (start.length % 4));
  const bytes = Uint8Array.from(atob(groups), (letter) => letter.charCodeAt(0));
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return isPrintable(text) ? `${text}…` : `${start}…`;
  } catch {
    return `${start}…`;
  }
}
