import type { ReceivedBody } from "../../content/content-ref.ts";
import { encodeBase64 } from "../../base/base64.ts";
import type { ContentBody } from "../../operation/operation.ts";
import { encryption } from "../../protocol/encryption.ts";
import { required, type Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { encryptionHeaderNames, encryptionHeaders } from "../shared/blob-encryption.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { inlineBlobBytesMax, putBlockBytesMax } from "../shared/limits.ts";
import { blobKey, nextVersion, preservePrevious } from "../shared/overwrite.ts";
import { appendAtEnd } from "./append-at-end.ts";
import { appendedId } from "./appended-data.ts";
import { commitAppended, readAppended } from "./commit-appended.ts";
import { position } from "./params.ts";
import { checkAppend, readAppends, stageAppend } from "./stage-append.ts";
import { leaseAfterWrite, leaseRenewed, leaseRenewedHeader, writeLease } from "./write-lease.ts";
import type { LeaseAfterWrite } from "./write-lease.ts";

const body: ContentBody = {
  kind: "content",
  lengthMax: putBlockBytesMax,
  inlineBytesMax: inlineBlobBytesMax,
  md5Always: false,
  nonEmpty: true,
};

/** Which checksums the request has: the response contains the same ones. */
interface SentChecksums {
  readonly md5: boolean;
  readonly crc64: boolean;
}

const sentChecksums: Param<SentChecksums> = {
  sources: ["Content-MD5", "x-ms-content-crc64"],
  parse: (reader) =>
    ok({
      md5: reader.header("content-md5") !== undefined,
      crc64: reader.header("x-ms-content-crc64") !== undefined,
    }),
};

const replyHeaders = [
  "Content-MD5",
  "x-ms-content-crc64",
  "x-ms-request-server-encrypted",
  leaseRenewedHeader,
  ...encryptionHeaderNames,
] as const;

/** Stores data that becomes part of the file when it is flushed. Concurrent appends to one file do
 *  not conflict. learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const appendPath = operation({
  name: "Append Data",
  ids: ["Path_AppendData"],
  route: { method: "PATCH", resource: "blob", query: { action: "append" } },
  since: "2018-11-09",
  params: {
    position: required(position),
    sent: sentChecksums,
    lease: writeLease(false),
    encryption,
  },
  body,
  permission: { letters: "aw", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  policy: { content: "none", generations: "current", pendingCopy: "reject", clientKey: "match" },
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: replyHeaders },
  reads: (view, { scope }) => readAppends(view, blobKey({ scope })),
  decide: (context) => {
    const { target, input, now } = context;
    const isForAppends = target.type === "AppendBlob";
    const appended = isForAppends ? appendAtEnd(context) : stageAppend(context, context.readResult);
    if (!appended.ok) return appended;
    const leased = leaseAfterWrite(target.lease, input.lease, now);
    if (!leased.ok) return leased;
    const { put: written = target, ...others } = appended.value;
    const { lease } = leased.value;
    return {
      ...others,
      ...(written === target && lease === target.lease ? {} : { put: { ...written, lease } }),
      headers: headersOf(context, leased.value),
    };
  },
});

/** Appends data and flushes it at once. Recorded: the Content-Type of the request becomes that of
 *  the file. */
export const appendAndFlush = operation({
  name: "Append Data And Flush",
  ids: [],
  route: { method: "PATCH", resource: "blob", query: { action: "append", flush: "true" } },
  since: "2018-11-09",
  params: {
    position: required(position),
    sent: sentChecksums,
    lease: writeLease(true),
    contentType: {
      sources: ["Content-Type"],
      parse: (reader) => ok(reader.header("content-type") || undefined),
    } satisfies Param<string | undefined>,
    encryption,
  },
  body,
  permission: { letters: "aw", resourceType: "o" },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  policy: { content: "change", generations: "current", pendingCopy: "reject", clientKey: "match" },
  etag: "renew",
  effect: "writes",
  success: { status: 202, headers: replyHeaders },
  reads: async (view, { scope, target }) => ({
    appends: await readAppends(view, blobKey({ scope })),
    appended: await readAppended(view, { key: blobKey({ scope }), target }),
  }),
  decide: (context) => {
    const { target, input, received, now, newETag, newId, readResult } = context;
    const checked = checkAppend(target, readResult.appends);
    if (!checked.ok) return checked;
    const leased = leaseAfterWrite(target.lease, input.lease, now);
    if (!leased.ok) return leased;
    const data = {
      id: appendedId(input.position, newETag, newId()),
      position: input.position,
      length: received.length,
      part: { pieces: received.pieces },
    };
    const { appended } = readResult;
    const committed = commitAppended(blobKey(context), {
      target,
      appended: { ...appended, data: [...appended.data, data] },
      length: input.position + received.length,
      keeps: false,
    });
    if (!committed.ok) return committed;
    const { contentType = target.headers.contentType } = input;
    const { headers, content, effects } = committed.value;
    return {
      ...content,
      effects,
      put: {
        ...target,
        etag: newETag,
        headers: { ...headers, contentType },
        lease: leased.value.lease,
        writtenBy: "dfs" as const,
        versionId: nextVersion(context),
      },
      preserve: preservePrevious(context),
      headers: headersOf(context, leased.value),
    };
  },
});

/** What the headers of a response depend on besides the lease. */
interface AppendContext {
  readonly target: BlobRecord;
  readonly received: ReceivedBody;
  readonly input: { readonly sent: SentChecksums };
}

function headersOf({ target, received, input }: AppendContext, leased: LeaseAfterWrite) {
  const { md5, crc64 } = received;
  return {
    "Content-MD5": input.sent.md5 ? md5 && encodeBase64(md5) : undefined,
    "x-ms-content-crc64": input.sent.crc64 ? crc64 && encodeBase64(crc64) : undefined,
    ...leaseRenewed(leased),
    ...encryptionHeaders(target),
    "x-ms-request-server-encrypted": "true",
  };
}
