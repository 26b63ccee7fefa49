/** Decodes Base64, which many clients send, if the result is printable text. */
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
  // eslint-disable-next-line no-control-regex -- control characters are searched for
  return !/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text);
}

export function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** Full texts of peeked messages, by id. The admin API returns only the start of the text of
 *  messages in flight. */
const known = new Map<string, string>();
const knownMax = 2000;

export function rememberText(id: string, text: string): void {
  known.set(id, text);
  const oldest = known.size > knownMax ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
}

const previewCharacters = 120;

/** The text to show for a message in flight, decoded as that of a visible message. */
export function shownText(id: string, preview: string): string {
  const whole = wholeText(id, preview);
  return whole === undefined ? readableStart(preview) : readableText(whole);
}

/** As `readableText`, for the start of a text: it may end inside a Base64 group or character. */
function readableStart(start: string): string {
  if (!/^[A-Za-z0-9+/]+$/.test(start)) return start;
  const groups = start.slice(0, start.length - (start.length % 4));
  const bytes = Uint8Array.from(atob(groups), (letter) => letter.charCodeAt(0));
  try {
    const decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return isPrintable(decoded) ? `${decoded}…` : start;
  } catch {
    return start;
  }
}

/** The full text of a message. Undefined if only its start is known: then it must not be edited,
 *  because saving would truncate it. */
export function wholeText(id: string, preview: string): string | undefined {
  const text = known.get(id);
  // Another text means that the message was updated since.
  if (text?.startsWith(preview) === true) return text;
  return preview.length < previewCharacters ? preview : undefined;
}
