import { checkTags } from "../../protocol/tag-set.ts";
import type { Tags } from "../../protocol/tags.ts";
import { parseXml, xmlChild, xmlChildText } from "../../encoding/xml.ts";
import type { WireRequest } from "../wire.ts";
import { ask, type SourceReader, type SourceRequest } from "./source-reader.ts";

const tagsBytesMax = 64 * 1024;

/** Reads the tags of the source with a second request, if the copy asks for them; otherwise
 *  undefined. */
export async function readSourceTags(
  read: SourceReader,
  { headers }: WireRequest,
  asked: SourceRequest,
): Promise<Tags | undefined> {
  if (headers["x-ms-copy-source-tag-option"]?.toUpperCase() !== "COPY") return undefined;
  const url = new URL(asked.url);
  url.search += `${url.search === "" ? "?" : "&"}comp=tags`;
  const { range: _range, ...kept } = asked.headers;
  const answer = await ask(read, { ...asked, url, headers: kept });
  try {
    return answer.status === 200 ? parseTags(await collect(answer.body)) : undefined;
  } finally {
    answer.close();
  }
}

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > tagsBytesMax) break;
    chunks.push(Uint8Array.from(chunk));
  }
  return Buffer.concat(chunks);
}

function parseTags(bytes: Uint8Array): Tags | undefined {
  const document = parseXml(bytes);
  const set = document.ok ? xmlChild(document.value, "TagSet") : undefined;
  const pairs = set?.children.map(
    (tag) => [xmlChildText(tag, "Key") ?? "", xmlChildText(tag, "Value") ?? ""] as const,
  );
  const tags = checkTags(pairs ?? []);
  return tags.ok && pairs !== undefined && pairs.length > 0 ? tags.value : undefined;
}
