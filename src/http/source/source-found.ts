import { validPairs, metadataPrefix, type Metadata } from "../../protocol/metadata.ts";
import type { SourceFound } from "../../operation/source.ts";
import type { SourceAnswer } from "./source-reader.ts";

/** What an answer says of the thing it comes from, as far as it can be true. */
export function sourceFoundIn({ headers, metadata }: SourceAnswer): SourceFound {
  return {
    header: (name) => headers[name],
    metadata: validPairs(metadata),
    length: totalLength(headers),
  };
}

function totalLength(headers: SourceAnswer["headers"]): number | undefined {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"];
  const length = /^\d+$/.test(total ?? "") ? Number(total) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
}

/** The pairs among the headers of an answer, in the source's own spelling. */
export function metadataIn(headers: Iterable<readonly [string, string]>): Metadata {
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (!name.toLowerCase().startsWith(metadataPrefix)) continue;
    pairs.push([name.slice(metadataPrefix.length), value]);
  }
  return pairs;
}
