import { formatHttpDate } from "../../base/dates.ts";
import { bareETag } from "../../protocol/etag.ts";
import { leaseProperties } from "../../protocol/lease.ts";
import { maxResults, nameMarker, pageSize, prefix, wordSet } from "../../operation/listing.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { noBody } from "../../operation/operation.ts";
import { renderEntries } from "../../encoding/render-entries.ts";
import { fail } from "../../protocol/result.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { xmlListBody } from "../../encoding/xml-body.ts";
import { element, startTag, textElement } from "../../encoding/xml-writer.ts";
import {
  containers,
  deletedContainers,
  type ContainerRecord,
  type DeletedContainerRecord,
} from "../records.ts";
import { formatDeletedVersion } from "../../protocol/deleted-version.ts";
import { operation } from "../resources.ts";

/** A container of a listing. `version` is set for soft-deleted containers. */
interface ListedContainer {
  readonly name: string;
  readonly record: ContainerRecord | DeletedContainerRecord;
  readonly version: Ticks | undefined;
}

/** learn.microsoft.com/rest/api/storageservices/list-containers2 */
export const listContainers = operation({
  name: "List Containers",
  ids: ["Service_ListContainersSegment"],
  route: { method: ["GET", "HEAD"], resource: "service", query: { comp: "list" } },
  since: "2009-09-19",
  params: {
    prefix,
    maxResults,
    marker: nameMarker,
    include: wordSet("include", "metadata", "deleted", "system"),
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
    const from = markerName(input.marker, account);
    const limit = pageSize(input.maxResults) + 1;
    const bounds = { prefix: input.prefix ?? "", from: from ?? "", limit };
    const live = await scanLive(view, target.id, bounds);
    const deleted = input.include?.has("deleted") === true;
    const softDeleted = deleted ? await scanDeleted(view, target.id, bounds) : [];
    const found = [...live, ...softDeleted].toSorted((a, b) => Buffer.compare(bytes(a), bytes(b)));
    const shown = found.slice(0, limit - 1);
    const withMetadata = input.include?.has("metadata") ?? false;
    const entries = await renderEntries(shown, (one) => renderContainer(one, now, withMetadata));
    return { badMarker: from === undefined, entries, next: found[shown.length] };
  },
  decide: ({ input, readResult, endpoint, account }) => {
    if (readResult.badMarker) return fail("OutOfRangeInput");
    const { entries, next } = readResult;
    const before =
      startTag("EnumerationResults", { ServiceEndpoint: `${endpoint}/` }) +
      textElement("Prefix", input.prefix) +
      textElement("Marker", input.marker) +
      textElement("MaxResults", input.maxResults);
    const marker = textElement("NextMarker", next === undefined ? "" : `/${account}/${next.name}`);
    const after = `${marker}</EnumerationResults>`;
    return { body: xmlListBody({ before, name: "Containers", entries, after }) };
  },
});

function bytes({ name }: ListedContainer): Uint8Array {
  return Buffer.from(name);
}

/** The name in a marker; undefined if the marker is malformed. Markers are `/account/name` of the
 *  first entry of the next page. */
function markerName(marker: string | undefined, account: string): string | undefined {
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

async function scanLive(
  view: RecordView,
  account: bigint,
  { prefix: start, from, limit }: ListBounds,
) {
  const within = containers.range([account], start);
  const first = containers.prefix([account, from]);
  const bounds = { ...within, start: later(within.start, first), limit };
  const found: ListedContainer[] = [];
  for await (const batch of view.scan(containers, bounds)) {
    for (const { key, record } of batch) {
      found.push({ name: containers.parts(key)[1] as string, record, version: undefined });
    }
  }
  return found;
}

async function scanDeleted(
  view: RecordView,
  account: bigint,
  { prefix: start, from, limit }: ListBounds,
) {
  const within = deletedContainers.range([account], start);
  const first = deletedContainers.prefix([account, from]);
  const bounds = { ...within, start: later(within.start, first), limit };
  const found: ListedContainer[] = [];
  for await (const batch of view.scan(deletedContainers, bounds)) {
    for (const { key, record } of batch) {
      if (remainingDays(record, view.now) < 0) continue;
      const [, name, version] = deletedContainers.parts(key);
      found.push({ name: name as string, record, version: version as Ticks });
    }
  }
  return found;
}

function later(left: Uint8Array, right: Uint8Array): Uint8Array {
  return Buffer.compare(left, right) < 0 ? right : left;
}

function remainingDays({ deletedAt, retentionDays }: DeletedContainerRecord, now: Ticks): number {
  return retentionDays - Number((now - deletedAt) / ticksPerDay);
}

function renderContainer(
  { name, record, version }: ListedContainer,
  now: Ticks,
  withMetadata: boolean,
): string {
  const { status, state, duration } = leaseProperties(record.lease, now);
  const deletion =
    "deletedAt" in record
      ? textElement("DeletedTime", formatHttpDate(record.deletedAt)) +
        textElement("RemainingRetentionDays", Math.max(0, remainingDays(record, now)))
      : "";
  const properties =
    textElement("Last-Modified", formatHttpDate(record.etag)) +
    textElement("Etag", `"${bareETag(record.etag)}"`) +
    textElement("LeaseStatus", status) +
    textElement("LeaseState", state) +
    textElement("LeaseDuration", duration) +
    textElement("PublicAccess", record.publicAccess) +
    textElement(
      "DefaultEncryptionScope",
      record.defaultEncryptionScope ?? "$account-encryption-key",
    ) +
    textElement(
      "DenyEncryptionScopeOverride",
      String(record.denyEncryptionScopeOverride ?? false),
    ) +
    textElement("HasImmutabilityPolicy", "false") +
    textElement("HasLegalHold", "false") +
    textElement("ImmutableStorageWithVersioningEnabled", "false") +
    deletion;
  return element(
    "Container",
    textElement("Name", name) +
      textElement("Deleted", version === undefined ? undefined : "true") +
      textElement("Version", version === undefined ? undefined : formatDeletedVersion(version)) +
      element("Properties", properties) +
      (withMetadata ? renderMetadata(record.metadata) : ""),
  );
}

function renderMetadata(metadata: Metadata): string {
  let inner = "";
  for (const [name, value] of metadata) inner += textElement(name, value);
  return element("Metadata", inner);
}
