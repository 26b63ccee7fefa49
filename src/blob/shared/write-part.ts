import { inlinePartBytesMax } from "../../content/content-ref.ts";
import type { ContentBody } from "../../operation/operation.ts";
import type { SourceBody } from "../../operation/source.ts";

/** What the operations that write a part of a blob declare alike: Put Block, Append Block and Put
 *  Page, and their forms that read the bytes from a URL. */

/** Body declaration of Put Block, Append Block and Put Page: the request body is the part. */
export function partBody(lengthMax: ContentBody["lengthMax"]): ContentBody {
  const common = { inlineBytesMax: inlinePartBytesMax, md5Always: false, nonEmpty: true } as const;
  return { kind: "content", lengthMax, ...common };
}

/** Body declaration of Put Block, Append Block and Put Page From URL: the part is read from the URL
 *  in `x-ms-copy-source`. */
export function partSource(
  fields: Pick<SourceBody, "lengthMax" | "style" | "md5Always">,
): SourceBody {
  const common = { range: "x-ms-source-range", nonEmpty: true } as const;
  return { kind: "source", inlineBytesMax: inlinePartBytesMax, ...common, ...fields };
}

/** Route of Put Block and Append Block. The form that reads from a URL has the same method and
 *  query, so the header distinguishes it. */
export function partRoute(comp: string, isFromUrl: boolean) {
  const headers = { "x-ms-copy-source": isFromUrl };
  return { method: "PUT", resource: "blob", query: { comp }, headers } as const;
}
