import type { ContentRef } from "../content/content-ref.ts";
import {
  isStructuredForm,
  structuredForm,
  structuredLength,
  writeStructured,
} from "../content/body/structured.ts";
import { header } from "../protocol/params.ts";
import type { ReplyBody } from "./reply.ts";

/** Structured bodies in responses (`x-ms-structured-body`): content with checksums in between,
 *  which newer clients request to verify a download while it arrives. Get Blob and Get File use it;
 *  the format is in `content/body/structured.ts`. */

/** The parameter with which a read asks for a structured body. */
export const wantsStructured = header(
  "x-ms-structured-body",
  // The parser returns undefined for any other value, which is a fault.
  (text) => isStructuredForm(text) || undefined,
);

/** The bytes to send. `checksum` asks for a header with their checksum. */
interface ContentSpan {
  readonly content: ContentRef;
  readonly from: number;
  readonly length: number;
  readonly checksum?: "md5" | "crc64" | undefined;
}

/** The body of a response with these bytes, which is structured if the request asks for it. */
export function replyBody(span: ContentSpan, isStructured: boolean): ReplyBody {
  if (!isStructured) return span;
  const { length } = span;
  return {
    ...span,
    transform: (chunks) => writeStructured(chunks, length),
    transformedLength: structuredLength(length),
  };
}

/** The headers of a structured body with `length` bytes of data; none for another body. */
export function structuredHeaders(isStructured: boolean, length: number) {
  if (!isStructured) return [];
  return [
    {
      "x-ms-structured-body": structuredForm,
      "x-ms-structured-content-length": String(length),
    },
  ];
}
