import { decoded, decodedStart, decoding, type Decoding } from "./decoding.ts";

export function base64Of(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** What the page knows of messages that it peeked or got, by id. The admin API returns only the
 *  start of the text of messages in flight. */
interface KnownMessage {
  readonly text: string;
  /** Only of messages that this page got: other receipts belong to other clients. */
  readonly popReceipt: string | undefined;
}

const known = new Map<string, KnownMessage>();
const knownMax = 2000;

export function rememberMessage(id: string, text: string, popReceipt?: string): void {
  known.set(id, { text, popReceipt: popReceipt ?? known.get(id)?.popReceipt });
  const oldest = known.size > knownMax ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
}

/** The pop receipt with which this page got a message, if it is still the valid one. */
export function ownReceipt(id: string, present: string): string | undefined {
  return known.get(id)?.popReceipt === present ? present : undefined;
}

const previewCharacters = 120;

/** The text to show for a message in flight, decoded as that of a visible message. */
export function shownText(id: string, preview: string, how: Decoding = decoding.get()): string {
  const whole = wholeText(id, preview);
  return whole === undefined ? decodedStart(preview, how) : decoded(whole, how);
}

/** The full text of a message. Undefined if only its start is known: then it must not be edited,
 *  because saving would truncate it. */
export function wholeText(id: string, preview: string): string | undefined {
  const text = known.get(id)?.text;
  // Another text means that the message was updated since.
  if (text?.startsWith(preview) === true) return text;
  return preview.length < previewCharacters ? preview : undefined;
}
