import { byteOrderMark, xmlDeclaration } from "./xml-writer.ts";

/** A success body as the service writes it: byte order mark, declaration, no line breaks. */
export function xmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: byteOrderMark + xmlDeclaration + inner };
}

/** As the newer operations write it: a line feed after the declaration. */
export function newXmlBody(inner: string): { readonly type: string; readonly text: string } {
  return { type: "application/xml", text: `${byteOrderMark}${xmlDeclaration}\n${inner}` };
}
