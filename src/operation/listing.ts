import { fail, ok } from "../protocol/result.ts";
import { outOfRangeQuery } from "../protocol/faults.ts";
import { query, text, type Param, type TextParser } from "../protocol/params.ts";
import { decodeBase64, encodeBase64 } from "../base/base64.ts";
import { blobNameUnitsMax, isListedPath } from "../protocol/names.ts";

/** Parameters that the listings of several services have alike: prefix, delimiter, page size, and
 *  the marker with which a client requests the next page. */

/** Azure's limit of the entries of a page. */
const pageEntriesMax = 5000;

/** Whether the text is short enough to be a name in a listing or the start of one. A longer text
 *  would not fit into a key. */
const fitsName = (value: string): boolean => value.length <= blobNameUnitsMax;

/** Parses a name or the start of one. */
export const nameText: TextParser<string> = (value) => (fitsName(value) ? value : undefined);

export const prefix = query("prefix", nameText);
export const delimiter = query("delimiter", text);

/** `maxresults`. `pageSize` reduces a value above the page size; a value below 1 is rejected. */
export const maxResults: Param<number | undefined> = {
  sources: ["?maxresults"],
  parse: (reader) => {
    const value = reader.query("maxresults");
    if (value === undefined || value === "") return ok(undefined);
    if (!/^-?\d{1,10}$/.test(value)) return outOfRangeQuery("maxresults", value, 1, pageEntriesMax);
    const count = Number(value);
    if (count < 1) return outOfRangeQuery("maxresults", value, 1, pageEntriesMax);
    return ok(count);
  },
};

/** Entries of a page: as requested, at most the limit of the service. */
export function pageSize(requested: number | undefined): number {
  return Math.min(requested ?? pageEntriesMax, pageEntriesMax);
}

const markerForm = /^2!(\d{1,5})!([A-Za-z0-9+/-]*)$/;

/** Formats a position in a listing as a marker: opaque to clients, and similar to the markers of
 *  the service. */
export function formatMarker(parts: readonly string[]): string {
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const encoded = encodeBase64(bytes).replaceAll("=", "-");
  return `2!${encoded.length}!${encoded}`;
}

/** A `marker` parameter that `formatMarker` has written; `isPart` checks each of its texts. */
function markerOf(isPart: (part: string) => boolean): Param<readonly string[] | undefined> {
  return markerParam((value) => parseMarker(value, isPart));
}

function markerParam<T>(parse: (value: string) => T | undefined): Param<T | undefined> {
  return {
    sources: ["?marker"],
    parse: (reader) => {
      const value = reader.query("marker");
      if (value === undefined || value === "") return ok(undefined);
      const parsed = parse(value);
      return parsed === undefined ? fail("OutOfRangeInput") : ok(parsed);
    },
  };
}

export const marker = markerOf(fitsName);

/** The marker of a listing whose entries may have paths that are longer than names. */
export const pathMarker = markerOf(isListedPath);

/** The `marker` of listings in which Azure shows the position as text: `/account/name` of the next
 *  entry. */
export const nameMarker = markerParam(nameText);

function parseMarker(
  value: string,
  isPart: (part: string) => boolean,
): readonly string[] | undefined {
  const match = markerForm.exec(value);
  const encoded = match?.[2];
  if (encoded === undefined || Number(match?.[1]) !== encoded.length) return undefined;
  const bytes = decodeBase64(encoded.replaceAll("-", "="));
  if (bytes === undefined) return undefined;
  try {
    const parts: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return Array.isArray(parts) && parts.every((part) => typeof part === "string" && isPart(part))
      ? parts
      : undefined;
  } catch {
    return undefined;
  }
}

/** A query parameter with a comma-separated set of the given words; an unknown word is a fault. */
export function wordSet<const T extends string>(name: string, ...words: readonly T[]) {
  return query(name, (value): ReadonlySet<T> | undefined => {
    const chosen = new Set<T>();
    for (const part of value.toLowerCase().split(",")) {
      const word = part.trim();
      if (word === "") continue;
      const known = words.find((candidate) => candidate === word);
      if (known === undefined) return undefined;
      chosen.add(known);
    }
    return chosen;
  });
}
