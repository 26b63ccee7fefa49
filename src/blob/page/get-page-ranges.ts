import { parseSnapshotTime } from "../../base/dates.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { maxResults } from "../../operation/listing.ts";
import type { SameCredentialsResource } from "../../protocol/named-resource.ts";
import { noBody } from "../../operation/operation.ts";
import { query, type Param } from "../../protocol/params.ts";
import { pageBytes, parseReadRange, type ByteRange, type Span } from "../../protocol/ranges.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { generations, type BlobKey, type BlobRecord } from "../records.ts";
import { operation, type BlobAddress } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { changedPages, validPages, type RangePage } from "./page-ranges.ts";

/** Most ranges per response, also without `maxresults`. */
const rangesMax = 10_000;

const range: Param<ByteRange | undefined> = {
  sources: ["x-ms-range", "Range"],
  parse: (reader) => {
    const text = reader.header("x-ms-range") ?? reader.header("range");
    return ok(text === undefined ? undefined : parseReadRange(text));
  },
};

/** The snapshot that a URL names. */
interface NamedSnapshot {
  /** Decoded; ends in container and blob. */
  readonly path: string;
  readonly at: Ticks;
}

/** The earlier snapshot, given as a URL. Clients use this form for managed disks. */
const previousUrl: Param<NamedSnapshot | undefined> = {
  sources: ["x-ms-previous-snapshot-url"],
  parse: (reader) => {
    const text = reader.header("x-ms-previous-snapshot-url");
    if (text === undefined || text === "") return ok(undefined);
    const url = URL.parse(text);
    const path = decodePath(url?.pathname ?? "");
    const at = parseSnapshotTime(url?.searchParams.get("snapshot") ?? "");
    return at === undefined || path === undefined
      ? invalidHeader("x-ms-previous-snapshot-url", text)
      : ok({ path, at });
  },
};

function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

const readPermission = { letters: "r", resourceType: "o", publicRead: "blob" } as const;

interface PreviousInput {
  readonly previous: Ticks | undefined;
  readonly previousUrl: NamedSnapshot | undefined;
}

function previousTime({ previous, previousUrl: url }: PreviousInput): Ticks | undefined {
  return previous ?? url?.at;
}

/** Whether the URL of the earlier snapshot, if there is one, is that of the addressed blob. */
function isOfBlob({ previousUrl: url }: PreviousInput, { container, blob }: BlobAddress): boolean {
  return url === undefined || url.path.endsWith(`/${container}/${blob}`);
}

/** The earlier snapshot that a request names. A SAS for one snapshot does not permit reading
 *  another one, so the request needs permission for it, too. */
function previousSnapshot(parameter: string): SameCredentialsResource<BlobAddress, PreviousInput> {
  return {
    kind: "same-credentials",
    parameter,
    permission: readPermission,
    resourceOf: ({ container, blob }, { previous, previousUrl: url }) => {
      const snapshotTime = parameter === "prevsnapshot" ? previous : url?.at;
      return snapshotTime === undefined ? undefined : { name: container, path: blob, snapshotTime };
    },
  };
}

const marker = query("marker", (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined));

interface PageRangesRead {
  readonly page: RangePage | undefined;
  readonly previous: BlobRecord | undefined;
}

/** Lists the pages with data or, if the request names an earlier snapshot, the pages that changed
 *  since. learn.microsoft.com/rest/api/storageservices/get-page-ranges */
export const getPageRanges = operation({
  name: "Get Page Ranges",
  ids: ["PageBlob_GetPageRanges", "PageBlob_GetPageRangesDiff"],
  route: { method: "GET", resource: "blob", query: { comp: "pagelist" } },
  since: "2009-09-19",
  params: {
    range,
    previous: query("prevsnapshot", parseSnapshotTime),
    previousUrl,
    marker,
    maxResults,
  },
  body: noBody,
  namedResources: [
    previousSnapshot("prevsnapshot"),
    previousSnapshot("x-ms-previous-snapshot-url"),
  ],
  permission: readPermission,
  namespace: "flat",
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  policy: { content: "none", generations: "any", pendingCopy: "allow", clientKey: "none" },
  largeResponse: true,
  success: { status: 200, headers: ["x-ms-blob-content-length"] },
  reads: async (view, { scope, target, input }): Promise<PageRangesRead> => {
    const at = previousTime(input);
    const key = blobKey({ scope });
    const previous = at === undefined ? undefined : await findPrevious(view, key, at);
    const span = requestedSpan(input.range, target.content.length, input.marker);
    if (span === undefined || target.type !== "PageBlob") return { page: undefined, previous };
    const requested = { span, rangesMax: Math.min(input.maxResults ?? rangesMax, rangesMax) };
    if (at === undefined) {
      return { page: await validPages(view, target.content, requested), previous };
    }
    if (previous === undefined) return { page: undefined, previous };
    const laterContents = await snapshotsBetween(view, key, { after: at, target });
    const contents = [previous.content, ...laterContents, target.content];
    return { page: await changedPages(view, contents, requested), previous };
  },
  decide: ({ address, target, input, readResult }) => {
    if (target.type !== "PageBlob") return fail("InvalidBlobType");
    const at = previousTime(input);
    if (at !== undefined) {
      const isFound = readResult.previous !== undefined && isOfBlob(input, address);
      if (!isFound) return fail("PreviousSnapshotNotFound");
      if (target.snapshot !== undefined && at > target.snapshot) {
        return fail("PreviousSnapshotCannotBeNewer");
      }
      // Another lineage: the blob was created again after that snapshot.
      if (readResult.previous.lineage !== target.lineage) return fail("BlobOverwritten");
    }
    if (readResult.page === undefined) return fail("InvalidRange");
    return {
      headers: { "x-ms-blob-content-length": String(target.content.length) },
      body: xmlBody(renderRanges(readResult.page, input.maxResults !== undefined)),
    };
  },
});

async function findPrevious(
  view: RecordView,
  key: BlobKey,
  at: Ticks,
): Promise<BlobRecord | undefined> {
  const found = await view.get(generations, { ...key, at, kind: "snapshot" });
  return found?.deleted === undefined ? found : undefined;
}

/** Most snapshots that are compared; the service limits a page blob to as many. */
const snapshotsMax = 100;

/** The contents of the snapshots between the earlier snapshot and the target, oldest first. Each is
 *  compared, to find pages that were written and cleared in between. */
async function snapshotsBetween(
  view: RecordView,
  { container, name }: BlobKey,
  { after, target }: { readonly after: Ticks; readonly target: BlobRecord },
): Promise<readonly ContentRef[]> {
  const { end } = generations.range([container, name]);
  const start = generations.prefix([container, name, after + 1n]);
  const contents: ContentRef[] = [];
  for await (const batch of view.scan(generations, { start, end, limit: snapshotsMax })) {
    for (const { record } of batch) {
      const { snapshot, lineage } = record;
      if (snapshot === undefined || lineage !== target.lineage) continue;
      if (target.snapshot === undefined || snapshot < target.snapshot) {
        contents.push(record.content);
      }
    }
  }
  return contents;
}

/** The requested range, extended to whole pages. Undefined if it starts after the end. */
function requestedSpan(
  requested: ByteRange | undefined,
  length: number,
  start: number | undefined,
): Span | undefined {
  const first = requested?.first ?? 0;
  if (requested !== undefined && first >= length) return undefined;
  const from = Math.max(first - (first % pageBytes), start ?? 0);
  const end = requested?.last === undefined ? length : Math.min(pageEnd(requested.last), length);
  return { from, length: Math.max(0, end - from) };
}

function pageEnd(last: number): number {
  return last - (last % pageBytes) + pageBytes;
}

function renderRanges({ ranges, next }: RangePage, paged: boolean): string {
  let inner = "";
  for (const { kind, from, length } of ranges) {
    const name = kind === "page" ? "PageRange" : "ClearRange";
    inner += element(name, textElement("Start", from) + textElement("End", from + length - 1));
  }
  if (next !== undefined) inner += textElement("NextMarker", String(next));
  else if (paged) inner += textElement("NextMarker", "");
  return element("PageList", inner);
}
