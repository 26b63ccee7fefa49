import type { PagedText } from "./paged-text.ts";
import { byteOrderMark, element, startTag, xmlDeclaration } from "./xml-writer.ts";

/** Bodies of XML responses, as a whole or in pieces that are rendered while they are sent. The
 *  operations of all services that return XML use them; single elements come from
 *  `xml-writer.ts`. */

/** A response body as Azure writes most XML: byte order mark, declaration, no line breaks. */
export function xmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: byteOrderMark + xmlDeclaration + inner };
}

/** Like `xmlBody`, with a line feed after the declaration: newer operations of Azure write one. */
export function newXmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: `${byteOrderMark}${xmlDeclaration}\n${inner}` };
}

/** Like `xmlBody`, for a long list whose entries are already in pages: puts `before` and the
 *  element `name` around them, and `after` at the end. */
export function xmlListBody(list: {
  readonly before: string;
  readonly name: string;
  readonly entries: PagedText;
  readonly after: string;
}): { readonly type: string; readonly paged: PagedText } {
  const { before, name, entries, after } = list;
  const start = byteOrderMark + xmlDeclaration + before;
  const isEmpty = entries.length === 0;
  entries.prepend(isEmpty ? `${start}<${name} />` : `${start}<${name}>`);
  entries.append(isEmpty ? after : `</${name}>${after}`);
  return { type: "application/xml", paged: entries };
}

/** The body of a response with a long list, in pieces that are rendered one by one
 *  (`ReplyBody`). */
interface XmlPieces {
  readonly type: string;
  readonly pieces: Iterable<string>;
}

/** Like `xmlBody`, for long lists: the pieces are rendered while they are sent. */
export function xmlBodyOf(inner: Iterable<string>): XmlPieces {
  return { type: "application/xml", pieces: joined(byteOrderMark + xmlDeclaration, inner) };
}

/** Like `newXmlBody`, in pieces that are rendered while the response is sent. */
export function newXmlBodyOf(inner: Iterable<string>): XmlPieces {
  return { type: "application/xml", pieces: joined(`${byteOrderMark}${xmlDeclaration}\n`, inner) };
}

/** Like `element` of `xml-writer.ts`, around inner XML in pieces. */
export function* elementOf(
  name: string,
  inner: Iterable<string>,
  attributes: Readonly<Record<string, string>> = {},
): Generator<string> {
  let isEmpty = true;
  for (const piece of inner) {
    if (piece === "") continue;
    if (isEmpty) yield startTag(name, attributes);
    isEmpty = false;
    yield piece;
  }
  yield isEmpty ? element(name, "", attributes) : `</${name}>`;
}

/** Joins texts and lists of texts to one list. They are rendered while the result is read. */
export function* joined(...parts: readonly (string | Iterable<string>)[]): Generator<string> {
  for (const part of parts) {
    if (typeof part === "string") yield part;
    else yield* part;
  }
}

/** Renders each item when the consumer asks for it, so a long list is never complete in memory. */
export function* rendered<T>(items: Iterable<T>, render: (item: T) => string): Generator<string> {
  for (const item of items) yield render(item);
}
