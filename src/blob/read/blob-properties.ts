import type { Features } from "../../protocol/features.ts";
import type { DeferredUpdate, ReplyHeaders } from "../../operation/reply.ts";
import { anyTable } from "../../encoding/table.ts";
import { ticksPerDay, type Ticks } from "../../base/ticks.ts";
import { blobs, type BlobRecord } from "../records.ts";
import type { BlobAddress } from "../resources.ts";
import type { ExistingBlob } from "../shared/overwrite.ts";
import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { encodeBase64 } from "../../base/base64.ts";
import { copyHeaders } from "../copy/copy-headers.ts";
import { protectionHeaders } from "../protection/protection.ts";
import { renderHttpHeaders } from "../shared/create-blob.ts";
import { leaseHeaders } from "../../protocol/lease.ts";
import { pathHeaders, resourceType } from "../tree/find-path.ts";

/** The headers that describe a blob, for Get Blob, Get Blob Properties and Query Blob Contents. */

/** Time of the last write or read of a block blob. Reads are stored at most once a day. Undefined
 *  if the account does not track it. */
export function lastAccess(record: BlobRecord, features: Features): Ticks | undefined {
  if (features.lastAccessTracking !== true || record.type !== "BlockBlob") return undefined;
  const { lastAccess: read = 0n, etag } = record;
  return read > etag ? read : etag;
}

/** Returns the deferred update (a small write after the read) that stores the time of this read, if
 *  the stored time is older than 24 h; otherwise nothing. */
export function lastAccessUpdate({ target, scope, address, features, now }: ExistingBlob): {
  readonly deferredUpdate?: DeferredUpdate;
} {
  const lastAccessed = lastAccess(target, features);
  if (lastAccessed === undefined || !isBase(address) || now - lastAccessed < ticksPerDay) return {};
  const { key } = scope;
  const change = (record: object) =>
    (record as BlobRecord).etag === target.etag ? { ...record, lastAccess: now } : undefined;
  return { deferredUpdate: { table: anyTable(blobs), key, change } };
}

/** Headers that only blobs of some types have. */
function typeHeaders(target: BlobRecord) {
  const { type, sequenceNumber = 0n, committedBlockCount = 0, sealed, expiresAt } = target;
  return {
    "x-ms-blob-sequence-number": type === "PageBlob" ? String(sequenceNumber) : undefined,
    "x-ms-blob-committed-block-count":
      type === "AppendBlob" ? String(committedBlockCount) : undefined,
    "x-ms-blob-sealed": sealed === true ? "true" : undefined,
    "x-ms-expiry-time": expiresAt === undefined ? undefined : formatHttpDate(expiresAt),
  };
}

/** The part of the decision context from which property headers are made. */
interface BlobReadContext extends ExistingBlob {
  readonly version: string;
}

/** The property headers of a response, without that of the MD5, whose name depends on whether the
 *  whole blob is read. */
export function blobProperties(context: BlobReadContext) {
  const { target, address, now, version, features } = context;
  const groups = commonProperties(context);
  if (features.hierarchicalNamespace === true) groups.push(pathHeaders(target, version));
  if (isBase(address)) groups.push(leaseHeaders(target.lease, now));
  return groups;
}

/** The first x-ms-version in which Query Blob Contents on hierarchical accounts returns no lease
 *  headers. */
const unleasedQueriesSince = "2021-08-06";

/** The property headers of Query Blob Contents. Recorded from Azure on hierarchical accounts:
 *  owner, group and permissions are absent. */
export function queryProperties(context: BlobReadContext) {
  const { target, version, features } = context;
  if (features.hierarchicalNamespace !== true) return blobProperties(context);
  const groups = commonProperties(context);
  groups.push({ "x-ms-resource-type": resourceType(target) });
  if (version < unleasedQueriesSince) groups.push(leaseHeaders(target.lease, context.now));
  return groups;
}

function isBase({ snapshot, versionId }: BlobAddress): boolean {
  return snapshot === undefined && versionId === undefined;
}

function commonProperties({ target, address, features }: BlobReadContext) {
  const versionId = address.snapshot === undefined ? target.versionId : undefined;
  const current = versionId !== undefined && target.superseded !== true;
  const tags = target.tags === undefined ? 0 : Object.keys(target.tags).length;
  const groups: ReplyHeaders[] = [
    renderHttpHeaders(target.headers),
    {
      "Accept-Ranges": "bytes",
      "x-ms-creation-time": formatHttpDate(target.created),
      "x-ms-blob-type": target.type,
      "x-ms-server-encrypted": "true",
      "x-ms-tag-count": tags === 0 ? undefined : String(tags),
      "x-ms-version-id": versionId === undefined ? undefined : formatIso(versionId),
      "x-ms-is-current-version": current ? "true" : undefined,
      "x-ms-encryption-scope": target.encryptionScope,
      "x-ms-encryption-key-sha256": target.keySha256 && encodeBase64(target.keySha256),
      "x-ms-last-access-time": optionalDate(lastAccess(target, features)),
    },
    typeHeaders(target),
  ];
  if (target.copy !== undefined) groups.push(copyHeaders(target));
  if ((target.immutability ?? target.legalHold) !== undefined)
    groups.push(protectionHeaders(target));
  return groups;
}

function optionalDate(time: Ticks | undefined): string | undefined {
  return time === undefined ? undefined : formatHttpDate(time);
}
