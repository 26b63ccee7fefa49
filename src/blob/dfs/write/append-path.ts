import {
  emptyContent,
  inlineWholeBytesMax,
  append as appendPlan,
  whole,
  type BytesSource,
  type ContentPlan,
  type ReceivedBody,
} from "../../../content/content-ref.ts";
import { encodeBase64 } from "../../../base/base64.ts";
import { encryption } from "../../../protocol/encryption.ts";
import { required, type Param } from "../../../protocol/params.ts";
import { fail, ok, type Result } from "../../../protocol/result.ts";
import { encryptionHeaders } from "../../shared/create-blob.ts";
import {
  blockCount,
  blocks,
  uploadEnds,
  uploads,
  type BlobKey,
  type BlobRecord,
  type InlineAppend,
  type UploadRecord,
} from "../../records.ts";
import { pathOperation } from "../../resources.ts";
import { appendedBlocksMax, putBlockBytesMax } from "../../shared/limits.ts";
import { partBody } from "../../shared/write-part.ts";
import { blobKey, hasBlocks, nextVersion, preservePrevious } from "../../shared/overwrite.ts";
import { appendedId, commitAppended, readAppended } from "./commit-appended.ts";
import { position } from "../params.ts";
import { appendAccess } from "../access/access-control.ts";
import {
  leaseAfterWrite,
  leaseRenewed,
  renewsLease,
  writeLease,
  type LeaseAfterWrite,
} from "./write-lease.ts";
import { mapAwaitable, type Awaitable } from "../../../base/awaitable.ts";
import { add, put, reclaim, reclaimOwned, type Effect } from "../../../operation/effects.ts";
import type { RecordView } from "../../../operation/view.ts";
import type { Ticks } from "../../../base/ticks.ts";
import { openUpload, touchIntervalTicks } from "../../block/put-block.ts";
import { findUpload, type UploadLookup } from "../../block/read-blocks.ts";
import { blobChange } from "../../blob-policy.ts";

/** Append Data, the upload of the Data Lake API: data is stored as an upload until Flush Data makes
 *  it content (`commit-appended.ts`), or at once with `flush=true`. Small appends are kept together
 *  in one record, because Hadoop sends many. */

/** The part of the decision context that Append Data uses. */
interface Append {
  readonly scope: { readonly key: BlobKey };
  readonly target: BlobRecord;
  readonly input: { readonly position: number };
  readonly received: ReceivedBody;
  readonly now: Ticks;
  readonly newETag: Ticks;
  readonly newId: () => bigint;
}

/** The fields of the reply of Append Data that change the file or its upload. */
interface AppendResult {
  readonly put?: BlobRecord;
  readonly content?: ContentPlan;
  readonly effects?: readonly Effect[];
}

/** Appends to an append blob that this API created: at its end only, and visible at once. */
function appendAtEnd({ target, input, received, newETag }: Append): Result<AppendResult> {
  if (target.writtenBy !== "dfs") return fail("InvalidAppendOperation");
  if (input.position !== target.content.length) return fail("InvalidQueryParameterValue");
  const count = (target.committedBlockCount ?? 0) + 1;
  if (count > appendedBlocksMax) return fail("BlockCountExceedsLimit");
  return ok({
    put: { ...target, etag: newETag, committedBlockCount: count },
    content: appendPlan(target.content, received),
  });
}

/** Most appends of a file that are not flushed; beyond it, an append is a fault. As many as Azure's
 *  limit of blocks in a blob. */
const appendsMax = 50_000;

/** Limits of this server for appended data in the record of an upload: most appends, and their
 *  bytes. Each small append rewrites all of it; other data gets records of its own. */
const inlineAppendsMax = 16;
const inlineAppendBytesMax = 8192;

/** The upload (data that is not flushed yet) of a file, and the number of appends in it. */
interface Appends {
  readonly staged: UploadLookup;
  /** Number of appends that are stored in the table `blocks`, not in the record of the upload. */
  readonly count: bigint;
}

function readAppends(view: RecordView, key: BlobKey): Awaitable<Appends> {
  return mapAwaitable(findUpload(view, { key }), (staged) => {
    const { live } = staged;
    if (live === undefined || !hasBlocks(live)) return { staged, count: 0n };
    return mapAwaitable(view.count(blockCount.key(live.id)), (count) => ({ staged, count }));
  });
}

/** Fails if data cannot be appended to the file: blocks of the Blob API and appended data exclude
 *  each other. */
function checkAppend(target: BlobRecord, { staged, count }: Appends): Result<undefined> {
  if (target.directory !== undefined) return fail("PathConflict");
  const isOfBlobApi = target.type !== "BlockBlob" || (staged.live?.blockIdLength ?? 0) > 0;
  if (isOfBlobApi) return fail("InvalidAppendOperation");
  return count >= BigInt(appendsMax) ? fail("BlockCountExceedsLimit") : ok(undefined);
}

/** Appends to a file that is a block blob: the data is uncommitted until the next flush. Small data
 *  is kept in the record of the upload: one write, and nothing to remove later. Other data is
 *  stored as blocks are, so that appends to one file do not wait for each other. */
function stageAppend(append: Append, found: Appends): Result<AppendResult> {
  const checked = checkAppend(append.target, found);
  if (!checked.ok) return checked;
  const source = smallSource(append.received);
  const isSmall = source !== undefined && hasRoom(found.staged.live, source);
  const effects = isSmall ? stageInline(append, found, source) : stageBlock(append, found);
  return ok({ effects });
}

function smallSource({ pieces }: ReceivedBody): BytesSource | undefined {
  const source = pieces.length === 1 ? pieces[0]?.source : undefined;
  // Data in an encryption scope is not kept inline: an archive contains the record as it is, but
  // not the key of a scope.
  const isScoped = source?.cipher?.scope !== undefined;
  return source !== undefined && "bytes" in source && !isScoped ? source : undefined;
}

function hasRoom(live: UploadRecord | undefined, { bytes }: BytesSource): boolean {
  if (live === undefined) return true;
  const { inline } = live;
  if (inline === undefined || inline.length >= inlineAppendsMax) return false;
  const total = inline.reduce((sum, { source }) => sum + source.bytes.length, bytes.length);
  return total <= inlineAppendBytesMax;
}

function stageInline(append: Append, found: Appends, source: BytesSource): readonly Effect[] {
  const { scope, input, now, newETag, newId } = append;
  const { key } = scope;
  const { live, stored } = found.staged;
  const id = appendedId(input.position, newETag, newId());
  const added: InlineAppend = { id, position: input.position, source };
  if (live !== undefined) {
    return changeUpload(key, live, { inline: [...(live.inline ?? []), added] }, now).effects;
  }
  const upload: UploadRecord = { id: newId(), blockIdLength: 0, touched: now, inline: [added] };
  const opened = [put(uploads, key, upload), expiry(key, upload)];
  return stored === undefined ? opened : [...opened, reclaimOwned("upload", stored.id)];
}

/** The stored job that removes expired uploads. All uploads that are opened in a directory in one
 *  hour share it: a job for each would remain for a week after the upload is committed. */
function expiry({ container }: BlobKey, upload: UploadRecord): Effect {
  const due = (uploadEnds(upload) / touchIntervalTicks + 1n) * touchIntervalTicks;
  return reclaim("blob-uploads", [container, ""], due);
}

function stageBlock(append: Append, found: Appends): readonly Effect[] {
  const { scope, target, input, received, now, newETag, newId } = append;
  const { live } = found.staged;
  const opened =
    live?.inline === undefined
      ? openUpload(scope.key, found.staged, { now, newId, blockIdLength: 0 })
      : openBesideInline(scope.key, live, now);
  const id = appendedId(input.position, newETag, newId());
  const { keySha256 } = target;
  const record = { content: emptyContent, keySha256, position: input.position };
  const block = put(blocks, { upload: opened.upload.id, id }, record, whole(received));
  return [...opened.effects, block, add(blockCount.key(opened.upload.id), 1n)];
}

interface OpenedUpload {
  readonly upload: UploadRecord;
  readonly effects: readonly Effect[];
}

/** Opens an upload that has inline data for an append that is stored separately: does the same as
 *  `openUpload` (`blob/block/put-block.ts`), and marks the upload as having blocks. */
function openBesideInline(key: BlobKey, live: UploadRecord, now: Ticks): OpenedUpload {
  if (live.hasBlocks === true && !isStale(live, now)) return { upload: live, effects: [] };
  return changeUpload(key, live, { hasBlocks: true }, now);
}

/** Whether an upload was last used so long ago that its time of expiry must be moved. Moving it
 *  with each append would write the record each time. */
function isStale({ touched }: UploadRecord, now: Ticks): boolean {
  return now - touched > touchIntervalTicks;
}

/** The effects that change an upload, and move its time of expiry if it is stale. */
function changeUpload(
  key: BlobKey,
  live: UploadRecord,
  change: Pick<UploadRecord, "inline" | "hasBlocks">,
  now: Ticks,
): OpenedUpload {
  const isMoved = isStale(live, now);
  const upload = { ...live, ...change, ...(isMoved && { touched: now }) };
  const written = put(uploads, key, upload);
  return { upload, effects: isMoved ? [written, expiry(key, upload)] : [written] };
}

/** Which checksums of the data an append sends: the response contains the same ones. */
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

/** What the declarations of Append Data, with and without a flush, have in common. */
const appending = {
  body: { ...partBody(putBlockBytesMax), inlineBytesMax: inlineWholeBytesMax },
  permission: { letters: "aw", resourceType: "o", posix: appendAccess },
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  renewsLease,
  status: 202,
} as const;

/** Stores data that becomes part of the file when it is flushed. Concurrent appends to one file do
 *  not conflict. learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/update */
export const appendPath = pathOperation({
  ...appending,
  name: "Append Data",
  ids: ["Path_AppendData"],
  route: { method: "PATCH", resource: "blob", query: { action: "append" } },
  params: {
    position: required(position),
    sent: sentChecksums,
    lease: writeLease(false),
    encryption,
  },
  policy: { ...blobChange.policy, content: "none" },
  etag: "none",
  freedBytes: () => 0,
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

/** Appends data and flushes it at once. Recorded from Azure: the Content-Type of the request
 *  becomes that of the file. */
export const appendAndFlush = pathOperation({
  ...appending,
  name: "Append Data And Flush",
  ids: [],
  route: { method: "PATCH", resource: "blob", query: { action: "append", flush: "true" } },
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
  policy: blobChange.policy,
  etag: "renew",
  // Bytes that the flush frees: at most the data that was appended before.
  freedBytes: async (view, { scope, target }) => {
    const { data } = await readAppended(view, { key: blobKey({ scope }), target });
    return data.reduce((sum, { length }) => sum + length, 0);
  },
  reads: (view, { scope, target }) => readAppended(view, { key: blobKey({ scope }), target }),
  decide: (context) => {
    const { target, input, received, now, newETag, newId, readResult: appended } = context;
    const { staged, data: earlier } = appended;
    const count = earlier.length - (staged.live?.inline?.length ?? 0);
    const checked = checkAppend(target, { staged, count: BigInt(count) });
    if (!checked.ok) return checked;
    const leased = leaseAfterWrite(target.lease, input.lease, now);
    if (!leased.ok) return leased;
    const data = {
      id: appendedId(input.position, newETag, newId()),
      position: input.position,
      length: received.length,
      part: { pieces: received.pieces },
    };
    const committed = commitAppended(blobKey(context), {
      target,
      appended: { ...appended, data: [...earlier, data] },
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

/** The part of the decision context from which the response headers of an append are made. */
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
