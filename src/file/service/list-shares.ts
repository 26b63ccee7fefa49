import { maxResults, nameMarker, pageSize, prefix, wordSet } from "../../core/listing.ts";
import { noBody } from "../../core/operation.ts";
import { fail } from "../../core/result.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { element, textElement } from "../../core/xml-writer.ts";
import { operation } from "../resources.ts";
import { renderShare } from "./share-entry.ts";
import { scanShares } from "./scan-shares.ts";

/** learn.microsoft.com/rest/api/storageservices/list-shares */
export const listShares = operation({
  name: "List Shares",
  ids: ["Service_ListSharesSegment"],
  route: { method: "GET", resource: "service", query: { comp: "list" } },
  since: "2015-02-21",
  params: {
    prefix,
    maxResults,
    marker: nameMarker,
    include: wordSet("include", "metadata", "deleted", "snapshots"),
  },
  body: noBody,
  permission: { letters: "l", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  reads: async (view, { target, input, account }) => {
    const from = markerName(input.marker, account);
    if (from === undefined) return undefined;
    return scanShares(view, target.id, {
      prefix: input.prefix ?? "",
      from,
      limit: pageSize(input.maxResults) + 1,
      deleted: input.include?.has("deleted") ?? false,
      snapshots: input.include?.has("snapshots") ?? false,
    });
  },
  decide: ({ input, seen, now, endpoint, account }) => {
    if (seen === undefined) return fail("OutOfRangeInput");
    const shown = seen.slice(0, pageSize(input.maxResults));
    const next = seen[shown.length];
    const withMetadata = input.include?.has("metadata") ?? false;
    let entries = "";
    for (const share of shown) entries += renderShare(share, now, withMetadata);
    const inner =
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker) +
      textElement("MaxResults", input.maxResults) +
      element("Shares", entries) +
      textElement("NextMarker", next === undefined ? "" : `/${account}/${next.place}`);
    const names = { ServiceEndpoint: `${endpoint}/` };
    return { body: xmlBody(element("EnumerationResults", inner, names)) };
  },
});

/** Markers are `/account/name`, with the place among what has that name behind it, of the first
 *  entry of the next page. */
function markerName(marker: string | undefined, account: string): string | undefined {
  if (marker === undefined) return "";
  const start = `/${account}/`;
  return marker.startsWith(start) ? marker.slice(start.length) : undefined;
}
