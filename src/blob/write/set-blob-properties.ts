import { blobChange } from "../blob-policy.ts";
import { resize } from "../../content/content-ref.ts";
import { encryptionOfProperties, encryption } from "../../protocol/encryption.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { header, oneOf, required, text } from "../../protocol/params.ts";
import { copyWith } from "../../base/copy-with.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { addCleared } from "../page/cleared-ranges.ts";
import { pageBlobLength, sequenceNumber, sequenceNumberMax } from "../page/put-page.ts";
import { blobs, uploads, type BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { compareKeys, encryptionHeaders, blobHeaders } from "../shared/create-blob.ts";
import { metadata, breakHeaders, leaseAction, leaseChange } from "../../operation/common-params.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { withFolderMark } from "../tree/create-parents.ts";
import { preservePrevious, nextVersion, versionHeader, blobKey } from "../shared/overwrite.ts";
import { parseHttpDate } from "../../base/dates.ts";
import { periodJob, put } from "../../operation/effects.ts";
import { ticksMax, ticksPerMillisecond, type Ticks } from "../../base/ticks.ts";
import type { Route } from "../../operation/operation.ts";
import { leaseReply } from "../../protocol/lease.ts";

/** Operations that change properties of a blob but not its bytes: headers, metadata, expiry,
 *  lease. */

type SequenceAction = "max" | "update" | "increment";

/** Replaces all six content headers; absent ones are cleared. A request that only resizes a page
 *  blob or changes its sequence number keeps them.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-properties */
export const setBlobProperties = operation({
  ...blobChange,
  name: "Set Blob Properties",
  ids: ["Blob_SetHTTPHeaders", "PageBlob_Resize", "PageBlob_UpdateSequenceNumber"],
  route: { method: "PUT", resource: "blob", query: { comp: "properties" } },
  params: {
    headers: blobHeaders,
    length: pageBlobLength,
    action: header("x-ms-sequence-number-action", oneOf("max", "update", "increment")),
    number: sequenceNumber,
    encryption: encryptionOfProperties,
  },
  policy: { ...blobChange.policy, clientKey: "none", event: "SetBlobProperties" },
  decide: ({ target, input, newETag }) => {
    const { headers, length, action, number } = input;
    const { clientKey } = input.encryption;
    // Clients send the key when they resize a blob, but not when they set its headers.
    if (clientKey !== undefined) {
      const same = compareKeys(target.keySha256, clientKey.sha256);
      if (!same.ok) return same;
    }
    const isPage = target.type === "PageBlob";
    const hasPageParameters = length !== undefined || action !== undefined || number !== undefined;
    if (hasPageParameters && !isPage) return fail("InvalidBlobType");
    const next = nextSequenceNumber(target, action, number);
    if (!next.ok) return next;
    const hasHeaders = Object.values(headers).some((value) => value !== undefined);
    const before = target.content.length;
    const isShortened = length !== undefined && length < before;
    const cleared = isShortened
      ? addCleared(target.cleared, [length, before, newETag])
      : target.cleared;
    const changed = isPage ? { ...target, sequenceNumber: next.value, cleared } : target;
    const resized = length === undefined ? undefined : resize(target.content, length);
    // Recorded from Azure: a blob without a content type in this request has none from then on.
    const replaced = { ...headers, contentType: headers.contentType ?? "" };
    return {
      put: hasHeaders || !hasPageParameters ? { ...changed, headers: replaced } : changed,
      ...(resized === undefined ? {} : { content: resized }),
      headers: { "x-ms-blob-sequence-number": isPage ? String(next.value) : undefined },
    };
  },
});

/** The new sequence number of a page blob. `increment` has no number in the request; the other
 *  actions require one. */
function nextSequenceNumber(
  { sequenceNumber: current = 0n }: BlobRecord,
  action: SequenceAction | undefined,
  given: bigint | undefined,
): Result<bigint> {
  const name = "x-ms-blob-sequence-number";
  if (action === undefined) {
    return given === undefined ? ok(current) : missingHeader("x-ms-sequence-number-action");
  }
  if (action === "increment") {
    if (given !== undefined) return invalidHeader(name, String(given));
    return current < sequenceNumberMax ? ok(current + 1n) : fail("SequenceNumberIncrementTooLarge");
  }
  if (given === undefined) return missingHeader(name);
  return ok(action === "max" && current > given ? current : given);
}

/** Replaces all metadata; with versioning the previous state is kept as an earlier version.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-metadata */
export const setBlobMetadata = operation({
  ...blobChange,
  name: "Set Blob Metadata",
  ids: ["Blob_SetMetadata"],
  route: { method: "PUT", resource: "blob", query: { comp: "metadata" } },
  params: { metadata, encryption },
  policy: { ...blobChange.policy, event: "SetBlobMetadata" },
  decide: (context) => {
    const { target, input, features } = context;
    const versionId = nextVersion(context);
    return {
      put: copyWith(target, { metadata: metadataOf(target, input.metadata), versionId }),
      effects: features.versioning ? preservePrevious(context) : [],
      headers: [
        encryptionHeaders(target),
        {
          "x-ms-request-server-encrypted": "true",
          "x-ms-version-id": versionHeader(versionId),
        },
      ],
    };
  },
});

/** A directory keeps the metadata pair that marks it as a directory. */
function metadataOf({ directory }: BlobRecord, given: Metadata): Metadata {
  return directory === undefined ? given : withFolderMark(given);
}

/** The time of Set Blob Expiry, in a form that `x-ms-expiry-option` chooses (`expiryOf`). */
const timeHeader = "x-ms-expiry-time";
type Option = "NeverExpire" | "RelativeToCreation" | "RelativeToNow" | "Absolute";

export const expiryOption = header(
  "x-ms-expiry-option",
  oneOf("NeverExpire", "RelativeToCreation", "RelativeToNow", "Absolute"),
);

/** Sets or removes the expiry time of a blob, from which on it is treated as absent.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-expiry */
export const setBlobExpiry = operation({
  name: "Set Blob Expiry",
  ids: ["Blob_SetExpiry"],
  route: { method: "PUT", resource: "blob", query: { comp: "expiry" } },
  since: "2020-02-10",
  params: {
    option: required(expiryOption),
    time: header(timeHeader, text),
  },
  permission: { letters: "w", resourceType: "o" },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "keep",
  policy: { ...blobChange.policy, clientKey: "none", directories: "reject" },
  decide: (context) => {
    const { target, input, now } = context;
    const expiry = expiryOf(input.option, input.time, { created: target.created, now });
    if (!expiry.ok) return expiry;
    const expiresAt = expiry.value;
    const record = { ...target, expiresAt };
    return { put: record, effects: periodJob(blobs, blobKey(context), record) };
  },
});

/** The expiry time of a request of Set Blob Expiry or of Create of the Data Lake API; undefined for
 *  `NeverExpire`. Relative times are in milliseconds. A time that is not in the future is a fault,
 *  except relative to the creation: the blob then expires at once. */
export function expiryOf(
  option: Option,
  given: string | undefined,
  { created, now }: { readonly created: Ticks; readonly now: Ticks },
): Result<Ticks | undefined> {
  if (option === "NeverExpire") {
    return given === undefined ? ok(undefined) : invalidHeader(timeHeader, given);
  }
  if (given === undefined) return missingHeader(timeHeader);
  const start = option === "RelativeToNow" ? now : created;
  const moment = option === "Absolute" ? parseHttpDate(given) : after(start, given);
  const mayBePast = option === "RelativeToCreation";
  if (moment === undefined || (moment <= now && !mayBePast) || moment > ticksMax) {
    return invalidHeader(timeHeader, given);
  }
  return ok(moment);
}

function after(start: Ticks, milliseconds: string): Ticks | undefined {
  if (!/^\d{1,15}$/.test(milliseconds)) return undefined;
  return start + BigInt(milliseconds) * ticksPerMillisecond;
}

/** Declares some actions of Lease Blob, which all share one URL: breaking a lease is declared
 *  apart, because other permissions suffice for it.
 *  learn.microsoft.com/rest/api/storageservices/lease-blob */
function declareLease(ids: readonly string[], letters: string, headers: Route["headers"] = {}) {
  const query = { comp: "lease" };
  return operation({
    ...leaseChange,
    name: "Lease Blob",
    ids,
    route: { method: "PUT", resource: "blob", query, headers },
    params: { action: leaseAction("blob") },
    permission: { letters, resourceType: "o" },
    conditions: "write",
    policy: {
      content: "none",
      generations: "current",
      pendingCopy: "reject",
      clientKey: "none",
      event: "none",
      // Recorded from Azure: a blob can be leased before its blocks are committed.
      uncommitted: "exists",
    },
    decide: ({ scope, target, input, now, newGuid }) => {
      const reply = leaseReply({ target, action: input.action, kind: "blob", now, newGuid });
      const upload = scope.upload?.live;
      if ("fault" in reply || upload === undefined) return reply;
      const { put: leased, ...rest } = reply;
      return { ...rest, effects: [put(uploads, scope.key, { ...upload, lease: leased.lease })] };
    },
  });
}

export const leaseBlob = declareLease(
  ["Blob_AcquireLease", "Blob_RenewLease", "Blob_ChangeLease", "Blob_ReleaseLease"],
  "w",
);

export const breakBlobLease = declareLease(["Blob_BreakLease"], "wd", breakHeaders);
