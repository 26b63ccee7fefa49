import { metadataPrefix } from "../../core/metadata.ts";
import type { SourceFound } from "../../core/source.ts";
import type { SourceAnswer } from "./source-reader.ts";

/** What an answer says of the thing it comes from. */
export function sourceFoundIn({ headers }: SourceAnswer): SourceFound {
  const metadata: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(metadataPrefix) && typeof value === "string") {
      metadata.push([name.slice(metadataPrefix.length), value]);
    }
  }
  return { header: (name) => headers[name], metadata, length: totalLength(headers) };
}

function totalLength(headers: SourceAnswer["headers"]): number | undefined {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"];
  return total === undefined ? undefined : Number(total);
}
