import type { ParamReader } from "./params.ts";
import { fail, ok, type Result } from "./result.ts";

/** User-defined metadata (`x-ms-meta-…`) and the content headers of blobs and files. */

/** Metadata pairs in the order of the request, with the client's spelling of names. */
export type Metadata = readonly (readonly [name: string, value: string])[];

export const metadataPrefix = "x-ms-meta-";
/** Azure's limit of the bytes of all names and values together. */
export const metadataBytesMax = 8192;

const noPairs = ok<Metadata>([]);

/** The length of all names and values in bytes. Header values are ASCII, one byte per character. */
export function metadataBytes(metadata: Metadata): number {
  let bytes = 0;
  for (const [name, value] of metadata) bytes += name.length + value.length;
  return bytes;
}

/** Names of metadata must be C# identifiers, as in Azure. */
const identifierPattern = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u;

export function parseMetadata(reader: Pick<ParamReader, "headersWith">): Result<Metadata> {
  const headers = reader.headersWith(metadataPrefix);
  if (headers.length === 0) return noPairs;
  return checkMetadata(
    headers.map(([header, value]) => [header.slice(metadataPrefix.length), value.trim()]),
  );
}

/** Selects the valid pairs of a copy source outside this service, up to the limit: other servers
 *  may send names that metadata here must not have. */
export function validPairs(pairs: Metadata): Metadata {
  const names = new Set<string>();
  let bytes = 0;
  return pairs.filter((pair) => {
    const [name, value] = pair;
    const folded = name.toLowerCase();
    const size = name.length + value.length;
    if (names.has(folded) || bytes + size > metadataBytesMax) return false;
    if (!checkMetadata([pair]).ok) return false;
    names.add(folded);
    bytes += size;
    return true;
  });
}

/** Checks names, duplicates and the total length of metadata. */
export function checkMetadata(pairs: Metadata): Result<Metadata> {
  const names = new Set<string>();
  let bytes = 0;
  for (const [name, value] of pairs) {
    if (name === "") return fail("EmptyMetadataKey");
    if (!identifierPattern.test(name)) return fail("InvalidMetadata");
    const folded = name.toLowerCase();
    if (names.has(folded)) return fail("InvalidMetadata");
    names.add(folded);
    bytes += name.length + value.length;
  }
  return bytes > metadataBytesMax ? fail("MetadataTooLarge") : ok(pairs);
}

/** The content headers that a blob or file is returned with. */
export interface HttpHeaders {
  /** Of a blob: undefined if it was created without one, so that it is the default; empty if it was
   *  cleared. */
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly contentLanguage?: string | undefined;
  readonly contentMd5?: Uint8Array | undefined;
  readonly cacheControl?: string | undefined;
  readonly contentDisposition?: string | undefined;
}
