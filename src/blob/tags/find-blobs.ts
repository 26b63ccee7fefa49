import { formatMarker, marker, maxResults, pageSize, wordSet } from "../../operation/listing.ts";
import { largeListing } from "../../operation/operation.ts";
import type { Reply } from "../../operation/reply.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { query, required, text as anyText, type Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { parseTagSearch, type TagSearch, type TagSearchOptions } from "../../protocol/tags.ts";
import type { RecordView } from "../../operation/view.ts";
import { elementOf, joined, newXmlBodyOf, rendered } from "../../encoding/xml-body.ts";
import { element, escapeText, nameElement, textElement } from "../../encoding/xml-writer.ts";
import { renderTags } from "../list/blob-entry.ts";
import { containers } from "../records.ts";
import { isHierarchical, operation } from "../resources.ts";
import { searchTags, type SearchPage, type TaggedBlob } from "./search-tags.ts";

/** Find Blobs by Tags, in an account or in one container: parameters and XML. `search-tags.ts`
 *  searches. */

/** The parsed filter of a search, and its text, which the response repeats. */
interface TagQuery extends TagSearch {
  readonly text: string;
}

const whereText = required(query("where", anyText));

function paramsOf(options: TagSearchOptions) {
  const where: Param<TagQuery> = {
    sources: whereText.sources,
    parse: (reader) => {
      const written = whereText.parse(reader);
      if (!written.ok) return written;
      const search = parseTagSearch(written.value, options);
      return search.ok ? ok({ ...search.value, text: written.value }) : search;
    },
  };
  const include = wordSet("include", "none", "versions", "deleted");
  return { where, marker, maxResults, include };
}

interface Input {
  readonly where: TagQuery;
  readonly marker: readonly string[] | undefined;
  readonly maxResults: number | undefined;
}

/** The blobs among which a request searches; without `container` those of the account. */
interface SearchScope {
  readonly account: bigint;
  readonly container: { readonly id: bigint; readonly name: string } | undefined;
  readonly isHierarchical: boolean;
  readonly caller: AclCaller | undefined;
}

const noMatches: SearchPage = { blobs: [], next: undefined };

function find(view: RecordView, input: Input, within: SearchScope): Promise<SearchPage> {
  const { where } = input;
  const limit = pageSize(input.maxResults);
  return searchTags(view, { ...within, terms: where.terms, from: input.marker?.[0], limit });
}

/** Finds the blobs of an account whose tags match the filter `where`, which may name one container.
 *  learn.microsoft.com/rest/api/storageservices/find-blobs-by-tags */
export const findBlobsByTags = operation({
  name: "Find Blobs by Tags",
  ids: ["Service_FilterBlobs"],
  route: { method: "GET", resource: "service", query: { comp: "blobs" } },
  since: "2019-12-12",
  params: paramsOf({ takesContainer: true }),
  permission: { letters: "f", resourceType: "so", sas: "account-only" },
  ...largeListing,
  reads: async (view, { target, input, scope, aclCaller: caller }) => {
    const name = input.where.container;
    const place = { account: target.id, container: undefined };
    const all = { ...place, isHierarchical: isHierarchical(scope), caller };
    if (name === undefined) return find(view, input, all);
    const container = await view.get(containers, { account: target.id, name });
    if (container === undefined) return noMatches;
    return find(view, input, { ...all, container: { id: container.id, name } });
  },
  decide: ({ input, readResult, endpoint }) => render(input, readResult, endpoint),
});

/** Like `findBlobsByTags`, among the blobs of one container.
 *  learn.microsoft.com/rest/api/storageservices/find-blobs-by-tags-container */
export const findBlobsByTagsInContainer = operation({
  name: "Find Blobs by Tags in Container",
  ids: ["Container_FilterBlobs"],
  route: {
    method: "GET",
    resource: "container",
    query: { restype: "container", comp: "blobs" },
  },
  since: "2021-04-10",
  params: paramsOf({ takesContainer: false }),
  permission: { letters: "f", resourceType: "co" },
  ...largeListing,
  reads: async (view, { scope, target, input, address, aclCaller }) => {
    const name = address.container;
    return find(view, input, {
      account: scope.account.id,
      container: { id: target.id, name },
      isHierarchical: isHierarchical(scope),
      caller: aclCaller,
    });
  },
  decide: ({ input, readResult, endpoint }) => render(input, readResult, endpoint),
});

function render(input: Input, { blobs, next }: SearchPage, endpoint: string): Reply<never> {
  const before =
    textElement("Marker", input.marker && formatMarker(input.marker)) +
    element("Where", quoted(input.where.text)) +
    textElement("MaxResults", input.maxResults);
  const entries = elementOf("Blobs", rendered(blobs, renderBlob));
  const after =
    next === undefined ? "<NextMarker/>" : textElement("NextMarker", formatMarker([next]));
  const attributes = { ServiceEndpoint: `${endpoint}/` };
  const inner = joined(before, entries, after);
  return { body: newXmlBodyOf(elementOf("EnumerationResults", inner, attributes)) };
}

function renderBlob({ name, container, tags }: TaggedBlob): string {
  const nameElements = nameElement("Name", name) + textElement("ContainerName", container);
  return element("Blob", nameElements + renderTags(tags));
}

/** Escapes both kinds of quotation marks, as Azure does in the element `Where`. */
function quoted(text: string): string {
  return escapeText(text).replaceAll("'", "&apos;").replaceAll('"', "&quot;");
}
