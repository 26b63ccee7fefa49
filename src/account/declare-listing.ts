import { formatHttpDate } from "../base/dates.ts";
import { ticksPerDay, type Ticks } from "../base/ticks.ts";
import { compareKeys, type KeyPart } from "../encoding/keys.ts";
import type { Table } from "../encoding/table.ts";
import { elementOf, joined, rendered, xmlBodyOf } from "../encoding/xml-body.ts";
import { textElement } from "../encoding/xml-writer.ts";
import { maxResults, nameMarker, pageSize, prefix, wordSet } from "../operation/listing.ts";
import { type Operation, type Route, largeListing } from "../operation/operation.ts";
import type { RecordView } from "../operation/view.ts";
import { bareETag } from "../protocol/conditions.ts";
import { leaseProperties, type Lease } from "../protocol/lease.ts";
import { fail } from "../protocol/result.ts";
import type { Version } from "../protocol/versions.ts";
import { serviceOperation } from "./service-resource.ts";

/** List Containers, List Queues and List Shares: one declaration with parameters, because the three
 *  differ only in their entries. Entries are read page by page; a marker names the first entry of
 *  the next page. */

/** What one page of a listing reads: entries whose names begin with `prefix`, from a position
 *  on. */
export interface ListBounds {
  /** The prefix of all listed names; empty for all. */
  readonly prefix: string;
  /** The position of the first entry; empty for the first page. */
  readonly from: string;
  /** One more than the page has, to find the first entry of the next page. */
  readonly limit: number;
}

/** What differs between the three listings. `T` is the type of the entries, `W` that of the words
 *  of `include`. */
interface Listing<T, W extends string> {
  readonly name: string;
  readonly id: string;
  readonly method: Route["method"];
  readonly since: Version;
  readonly include: readonly W[];
  /** The name of the XML element around the entries. */
  readonly element: string;
  /** The queue service sends `Cache-Control: no-cache`; the other services do not. */
  readonly noCache?: true;
  /** Reads the entries of a page, ordered by `positionOf`. */
  readonly scan: (
    view: RecordView,
    account: bigint,
    bounds: ListBounds,
    included: ReadonlySet<W>,
  ) => Promise<readonly T[]>;
  readonly render: (entry: T, now: Ticks, withMetadata: boolean) => string;
  /** The position of an entry, as a marker contains it. Entries are ordered by it. */
  readonly positionOf: (entry: T) => string;
}

const nothing: ReadonlySet<never> = new Set<never>();

/** Declares the listing of an account's containers, queues or shares. */
export function declareListing<T, const W extends string>(listing: Listing<T, W>): Operation {
  const { name, id, method, since, scan, render, positionOf, noCache } = listing;
  const cacheControl = noCache && "no-cache";
  return serviceOperation({
    name,
    ids: [id],
    route: { method, resource: "service", query: { comp: "list" } },
    since,
    params: {
      prefix,
      maxResults,
      marker: nameMarker,
      include: wordSet<W | "metadata">("include", "metadata", ...listing.include),
    },
    permission: { letters: "l", resourceType: "s", sas: "account-only" },
    ...largeListing,
    reads: async (view, { target, input, account }) => {
      const from = positionInMarker(input.marker, account);
      if (from === undefined) return undefined;
      const limit = pageSize(input.maxResults) + 1;
      const bounds = { prefix: input.prefix ?? "", from, limit };
      const included = input.include ?? nothing;
      const found = await scan(view, target.id, bounds, included as ReadonlySet<W>);
      const shown = found.slice(0, limit - 1);
      const next = found[shown.length];
      return { shown, next: next === undefined ? "" : `/${account}/${positionOf(next)}` };
    },
    decide: ({ input, readResult, endpoint, now }) => {
      if (readResult === undefined) return fail("OutOfRangeInput");
      const { shown, next } = readResult;
      const withMetadata = input.include?.has("metadata") === true;
      const entries = rendered(shown, (entry) => render(entry, now, withMetadata));
      const inner = joined(
        textElement("Prefix", input.prefix),
        textElement("Marker", input.marker),
        textElement("MaxResults", input.maxResults),
        elementOf(listing.element, entries),
        textElement("NextMarker", next),
      );
      const attributes = { ServiceEndpoint: `${endpoint}/` };
      const body = xmlBodyOf(elementOf("EnumerationResults", inner, attributes));
      return cacheControl === undefined
        ? { body }
        : { headers: { "Cache-Control": cacheControl }, body };
    },
  });
}

/** The position in a marker, which is `/account/` and the position of the first entry of the next
 *  page. Undefined if the marker is malformed. */
function positionInMarker(marker: string | undefined, account: string): string | undefined {
  if (marker === undefined) return "";
  const start = `/${account}/`;
  return marker.startsWith(start) ? marker.slice(start.length) : undefined;
}

/** Reads the records of an account in a table that is keyed by account and name. */
export async function scanNames<K, R, T>(
  view: RecordView,
  table: Table<K, R>,
  account: bigint,
  { prefix: start, from, limit }: ListBounds,
  toEntry: (parts: readonly KeyPart[], record: R) => T | undefined,
): Promise<T[]> {
  const within = table.range([account], start);
  const first = table.prefix([account, from]);
  const isLater = compareKeys(within.start, first) < 0;
  const bounds = { start: isLater ? first : within.start, end: within.end, limit };
  const found: T[] = [];
  for await (const batch of view.scan(table, bounds)) {
    for (const { key, record } of batch) {
      const entry = toEntry(table.parts(key), record);
      if (entry !== undefined) found.push(entry);
    }
  }
  return found;
}

interface SoftDeleted {
  readonly deletedAt: Ticks;
  readonly retentionDays: number;
}

/** Days until a soft-deleted container or share can no longer be restored; negative if its
 *  retention has ended. */
export function remainingDays({ deletedAt, retentionDays }: SoftDeleted, now: Ticks): number {
  return retentionDays - Number((now - deletedAt) / ticksPerDay);
}

/** The XML elements that an entry has only if it is soft-deleted. */
export function deletionElements(record: SoftDeleted, now: Ticks): string {
  return (
    textElement("DeletedTime", formatHttpDate(record.deletedAt)) +
    textElement("RemainingRetentionDays", Math.max(0, remainingDays(record, now)))
  );
}

/** The first properties in the entry of a container or share in a listing. */
export function leasedElements(
  { etag, lease }: { readonly etag: Ticks; readonly lease?: Lease | undefined },
  now: Ticks,
): string {
  const { status, state, duration } = leaseProperties(lease, now);
  return (
    textElement("Last-Modified", formatHttpDate(etag)) +
    textElement("Etag", `"${bareETag(etag)}"`) +
    textElement("LeaseStatus", status) +
    textElement("LeaseState", state) +
    textElement("LeaseDuration", duration)
  );
}
