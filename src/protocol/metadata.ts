import type { ParamReader } from "./params.ts";
import { fail, ok, type Result } from "./result.ts";

/** In the order sent, names in the client's own spelling. */
export type Metadata = readonly (readonly [name: string, value: string])[];

export const metadataPrefix = "x-ms-meta-";
/** Names and values together. */
export const metadataBytesMax = 8192;

export const noMetadata: Metadata = [];

/** Names are C# identifiers, because the first client library made properties of them. */
const identifierForm = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Pc}\p{Mn}\p{Mc}\p{Cf}]*$/u;

export function parseMetadata(reader: Pick<ParamReader, "headersWith">): Result<Metadata> {
  const pairs: (readonly [string, string])[] = [];
  for (const [header, value] of reader.headersWith(metadataPrefix)) {
    pairs.push([header.slice(metadataPrefix.length), value.trim()]);
  }
  return pairs.length === 0 ? ok(noMetadata) : checkMetadata(pairs);
}

/** Of what somebody else's server says, the pairs that could have been set here. */
export function fittingMetadata(pairs: Metadata): Metadata {
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

/** Also for metadata that comes in a body or from another record. */
export function checkMetadata(pairs: Metadata): Result<Metadata> {
  const names = new Set<string>();
  let bytes = 0;
  for (const [name, value] of pairs) {
    if (name === "") return fail("EmptyMetadataKey");
    if (!identifierForm.test(name)) return fail("InvalidMetadata");
    const folded = name.toLowerCase();
    if (names.has(folded)) return fail("InvalidMetadata");
    names.add(folded);
    bytes += name.length + value.length;
  }
  return bytes > metadataBytesMax ? fail("MetadataTooLarge") : ok(pairs);
}
