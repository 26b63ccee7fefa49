import { validPairs, metadataPrefix, type Metadata } from "../../protocol/metadata.ts";
import type { FetchedProperties } from "../../operation/source.ts";
import type { SourceResponse } from "./source-reader.ts";

/** The properties of a source in its response, as far as they are valid. */
export function fetchedPropertiesOf({ headers, metadata }: SourceResponse): FetchedProperties {
  return {
    header: (name) => headers[name],
    metadata: validPairs(metadata),
    length: totalLength(headers),
  };
}

function totalLength(headers: SourceResponse["headers"]): number | undefined {
  const total = /\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? headers["content-length"];
  const length = /^\d+$/.test(total ?? "") ? Number(total) : Number.NaN;
  return Number.isSafeInteger(length) ? length : undefined;
}

/** The metadata in the headers of a response, with the source's spelling of names. */
export function metadataIn(headers: Iterable<readonly [string, string]>): Metadata {
  const pairs: (readonly [string, string])[] = [];
  for (const [name, value] of headers) {
    if (!name.toLowerCase().startsWith(metadataPrefix)) continue;
    pairs.push([name.slice(metadataPrefix.length), value]);
  }
  return pairs;
}
