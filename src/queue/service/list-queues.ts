import { maxResults, nameMarker, pageSize, prefix, wordSet } from "../../operation/listing.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { noBody } from "../../operation/operation.ts";
import { renderEntries } from "../../encoding/render-entries.ts";
import { fail } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { element, startTag, textElement } from "../../encoding/xml-writer.ts";
import { queues } from "../records.ts";
import { operation } from "../resources.ts";

interface ListedQueue {
  readonly name: string;
  readonly metadata: Metadata;
}

/** learn.microsoft.com/rest/api/storageservices/list-queues1 */
export const listQueues = operation({
  name: "List Queues",
  ids: ["Service_ListQueuesSegment"],
  route: { method: "GET", resource: "service", query: { comp: "list" } },
  since: "2009-09-19",
  params: {
    prefix,
    maxResults,
    marker: nameMarker,
    include: wordSet("include", "metadata"),
  },
  body: noBody,
  permission: { letters: "l", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  largeResponse: true,
  success: { status: 200, headers: ["Cache-Control"] },
  reads: async (view, { target, input, account }) => {
    const from = nameInMarker(input.marker, account);
    if (from === undefined) return undefined;
    const limit = pageSize(input.maxResults) + 1;
    const found = await scan(view, target.id, { prefix: input.prefix ?? "", from, limit });
    const shown = found.slice(0, limit - 1);
    const withMetadata = input.include?.has("metadata") ?? false;
    const entries = await renderEntries(shown, (queue) => renderQueue(queue, withMetadata));
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
    const marker = textElement("NextMarker", next === undefined ? "" : `/${account}/${next.name}`);
    const after = `${marker}</EnumerationResults>`;
    return {
      headers: { "Cache-Control": "no-cache" },
      body: xmlListBody({ before, name: "Queues", entries, after }),
    };
  },
});

/** Markers are `/account/name` of the first entry of the next page. */
function nameInMarker(marker: string | undefined, account: string): string | undefined {
  if (marker === undefined) return "";
  const start = `/${account}/`;
  return marker.startsWith(start) ? marker.slice(start.length) : undefined;
}

/** `prefix`: what all listed names start with; `from`: the first name of the page. */
interface ListBounds {
  readonly prefix: string;
  readonly from: string;
  readonly limit: number;
}

async function scan(
  view: RecordView,
  account: bigint,
  { prefix: namePrefix, from, limit }: ListBounds,
) {
  const within = queues.range([account], namePrefix);
  const first = queues.prefix([account, from]);
  const isLater = Buffer.compare(first, within.start) > 0;
  const bounds = { ...within, start: isLater ? first : within.start, limit };
  const found: ListedQueue[] = [];
  for await (const batch of view.scan(queues, bounds)) {
    for (const { key, record } of batch) {
      found.push({ name: queues.parts(key)[1] as string, metadata: record.metadata });
    }
  }
  return found;
}

function renderQueue({ name, metadata }: ListedQueue, withMetadata: boolean): string {
  let pairs = "";
  for (const [key, value] of metadata) pairs += textElement(key, value);
  const shown = withMetadata ? element("Metadata", pairs) : "";
  return element("Queue", textElement("Name", name) + shown);
}
