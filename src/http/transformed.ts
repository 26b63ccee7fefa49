import type { ContentRef } from "../content/content-ref.ts";
import type { Transform } from "../operation/reply.ts";
import type { ContentReader } from "../content/content.ts";

/** Returns a reader that transforms the bytes of stored content. Inline content has no reader; its
 *  bytes are passed directly. */
export function transformed(
  content: ContentRef,
  reader: ContentReader | undefined,
  transform: Transform,
): ContentReader {
  const readRange = (from: number, length: number) =>
    reader?.read(from, length) ?? inlineBytes(content, from, length);
  return {
    length: content.length,
    read: (from, length) => transform(readRange(from, length), readRange),
    close: () => reader?.close(),
  };
}

async function* inlineBytes(
  content: ContentRef,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (content.kind === "inline" && length > 0) yield content.bytes.subarray(from, from + length);
}
