import { encryption } from "../../../protocol/encryption.ts";
import { boolean, query, required } from "../../../protocol/params.ts";
import { emptyBody, encryptionHeaders } from "../../shared/create-blob.ts";
import type { DecidedEvent } from "../../events.ts";
import { pathOperation } from "../../resources.ts";
import { blobKey, nextVersion, preservePrevious } from "../../shared/overwrite.ts";
import { commitAppended, readAppended } from "./commit-appended.ts";
import { contentHeaders, position } from "../params.ts";
import { appendAccess } from "../access/access-control.ts";
import { leaseAfterWrite, leaseRenewed } from "./write-lease.ts";
import { renewsLease, writeLease } from "./write-lease.ts";
import { blobChange } from "../../blob-policy.ts";

/** Makes appended data content of the file, up to a length. Each flush gives the file a new ETag.
 *  Recorded from Azure: a failed condition is a 304 where a read gets one, too.
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const flushPath = pathOperation({
  name: "Flush Data",
  ids: ["Path_FlushData"],
  route: { method: "PATCH", resource: "blob", query: { action: "flush" } },
  params: {
    position: required(position),
    retains: query("retainUncommittedData", boolean),
    closes: query("close", boolean),
    headers: contentHeaders,
    lease: writeLease(true),
    encryption,
    empty: emptyBody,
  },
  permission: { letters: "aw", resourceType: "o", posix: appendAccess },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-leased",
  renewsLease,
  policy: { ...blobChange.policy, event: "decided" },
  etag: "renew",
  reads: (view, { scope, target }) => readAppended(view, { key: blobKey({ scope }), target }),
  decide: (context) => {
    const { target, input, now, newETag, version, readResult: appended } = context;
    const { position: length, retains: keeps = false } = input;
    const committed = commitAppended(blobKey(context), { target, appended, length, keeps });
    if (!committed.ok) return committed;
    const leased = leaseAfterWrite(target.lease, input.lease, now);
    if (!leased.ok) return leased;
    const { headers, content, effects } = committed.value;
    return {
      ...content,
      ...(input.closes === true && { event: closed }),
      effects,
      put: {
        ...target,
        etag: newETag,
        headers: { ...headers, ...(version >= resetsTypeSince ? resetType : {}), ...input.headers },
        lease: leased.value.lease,
        writtenBy: "dfs" as const,
        versionId: nextVersion(context),
      },
      preserve: preservePrevious(context),
      headers: {
        ...leaseRenewed(leased.value),
        ...encryptionHeaders(target),
        // Recorded from Azure: a flush answers true only with a client's key, although appends and
        // reads always answer true.
        "x-ms-request-server-encrypted": String(target.keySha256 !== undefined),
      },
    };
  },
});

/** The event of a flush with `close=true`: the writer says that the file is complete. */
const closed: DecidedEvent = { api: "FlushWithClose" };

/** The first x-ms-version in which a flush without a content type resets that of the file (recorded
 *  from Azure). */
const resetsTypeSince = "2025-01-05";
const resetType = { contentType: "application/octet-stream" };
