import type { PagedText } from "./paged-text.ts";
import { byteOrderMark, xmlDeclaration } from "./xml-writer.ts";

/** A response body as Azure Storage writes most XML: byte order mark, declaration, no line
 *  breaks. */
export function xmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: byteOrderMark + xmlDeclaration + inner };
}

/** As `xmlBody`, with the line feed that newer operations of the service write after the
 *  declaration. */
export function newXmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: `${byteOrderMark}${xmlDeclaration}\n${inner}` };
}

/** As `xmlBody`, for a long list: the text before it, its element `name` with rendered entries, and
 *  the text after it. */
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
