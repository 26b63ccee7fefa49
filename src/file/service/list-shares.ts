import { maxResults, nameMarker, pageSize, prefix, wordSet } from "../../operation/listing.ts";
import { noBody } from "../../operation/operation.ts";
import { renderEntries } from "../../encoding/render-entries.ts";
import { fail } from "../../protocol/result.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { startTag, textElement } from "../../encoding/xml-writer.ts";
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
  largeResponse: true,
  success: { status: 200, headers: [] },
  reads: async (view, { target, input, account, now }) => {
    const from = markerSortKey(input.marker, account);
    if (from === undefined) return undefined;
    const limit = pageSize(input.maxResults) + 1;
    const found = await scanShares(view, target.id, {
      prefix: input.prefix ?? "",
      from,
      limit,
      deleted: input.include?.has("deleted") ?? false,
      snapshots: input.include?.has("snapshots") ?? false,
    });
    const shown = found.slice(0, limit - 1);
    const withMetadata = input.include?.has("metadata") ?? false;
    const entries = await renderEntries(shown, (share) => renderShare(share, now, withMetadata));
    return { entries, next: found[shown.length] };
  },
  decide: ({ input, readResult, endpoint, account }) => {
    if (readResult === undefined) return fail("OutOfRangeInput");
    const { entries, next } = readResult;
    const before =
      startTag("EnumerationResults", { ServiceEndpoint: `${endpoint}/` }) +
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker) +
      textElement("MaxResults", input.maxResults);
    const marker = textElement(
      "NextMarker",
      next === undefined ? "" : `/${account}/${next.sortKey}`,
    );
    const after = `${marker}</EnumerationResults>`;
    return { body: xmlListBody({ before, name: "Shares", entries, after }) };
  },
});

/** The sort key in a marker, which is `/account/` and the sort key of the first entry of the next
 *  page (`ListedShare.sortKey`). Undefined if the marker is malformed. */
function markerSortKey(marker: string | undefined, account: string): string | undefined {
  if (marker === undefined) return "";
  const start = `/${account}/`;
  return marker.startsWith(start) ? marker.slice(start.length) : undefined;
}
