import type { ContentRef } from "../content/content-ref.ts";
import type { Transform } from "../operation/reply.ts";
import type { ContentReader } from "../content/content.ts";

/** A reader of what `through` makes of the bytes. Small contents, which no reader was opened for,
 *  are handed over as they are. */
export function transformed(
  content: ContentRef,
  reader: ContentReader | undefined,
  through: Transform,
): ContentReader {
  return {
    length: content.length,
    read: (from, length) => through(reader?.read(from, length) ?? held(content, from, length)),
    close: () => reader?.close(),
  };
}

async function* held(
  content: ContentRef,
  from: number,
  length: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (content.kind === "inline" && length > 0) yield content.bytes.subarray(from, from + length);
}
