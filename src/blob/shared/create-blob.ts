import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Param, ParamReader } from "../../protocol/params.ts";
import type { BlobRecord, ContainerRecord, UploadRecord } from "../records.ts";
import { emptyContent, type ReceivedBody, type ContentPlan } from "../../content/content-ref.ts";
import { crc64Since, type Version } from "../../protocol/versions.ts";
import { metadata } from "../../operation/common-params.ts";
import type { Effect } from "../../operation/effects.ts";
import type { ReplyHeaders } from "../../operation/reply.ts";
import { encryption, type Encryption } from "../../protocol/encryption.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import { parseTagsHeader, type Tags } from "../../protocol/tags.ts";
import { protection, type Protection } from "../protection/protection.ts";
import {
  blobKey,
  dropUpload,
  heldLease,
  nextVersion,
  preservePrevious,
  versionHeader,
  type OverwriteContext,
} from "./overwrite.ts";
import { blockBlobTier } from "../tier/rehydration.ts";
import type { Features } from "../../protocol/features.ts";
import type { HttpHeaders } from "../../protocol/metadata.ts";

/** What operations that create, replace or write blobs share: content headers, checksums,
 *  encryption, and the record of a new blob. */

const md5Bytes = 16;

/** The content headers that a request gives to a blob, in `x-ms-blob-content-type` and similar
 *  headers. */
export const blobHeaders: Param<HttpHeaders> = {
  sources: [
    "x-ms-blob-content-type",
    "x-ms-blob-content-encoding",
    "x-ms-blob-content-language",
    "x-ms-blob-content-md5",
    "x-ms-blob-cache-control",
    "x-ms-blob-content-disposition",
  ],
  parse: (reader) => parseHeaders(reader, false),
};

/** Like `blobHeaders`, for Put Blob: the content headers of the request itself (`Content-Type`) are
 *  the defaults. */
export const blobOrRequestHeaders: Param<HttpHeaders> = {
  sources: [...blobHeaders.sources, "Content-Type", "Content-Encoding", "Content-Language"],
  parse: (reader) => parseHeaders(reader, true),
};

/** Parses the content headers of a request. Recorded from Azure: only Put Blob, which verifies the
 *  body's MD5, checks the length of the header with the MD5. */
function parseHeaders(reader: ParamReader, usesRequestHeaders: boolean): Result<HttpHeaders> {
  const readHeader = (blobName: string, requestName: string) =>
    reader.header(blobName) ?? (usesRequestHeaders ? reader.header(requestName) : undefined);
  const md5Text = reader.header("x-ms-blob-content-md5");
  const contentMd5 = md5Text === undefined || md5Text === "" ? undefined : decodeBase64(md5Text);
  const isMd5 = contentMd5 !== undefined && (!usesRequestHeaders || contentMd5.length === md5Bytes);
  if (md5Text !== undefined && md5Text !== "" && !isMd5) return fail("InvalidMd5");
  return ok({
    contentType: readHeader("x-ms-blob-content-type", "content-type") || undefined,
    contentEncoding: readHeader("x-ms-blob-content-encoding", "content-encoding"),
    contentLanguage: readHeader("x-ms-blob-content-language", "content-language"),
    contentMd5,
    cacheControl: readHeader("x-ms-blob-cache-control", "cache-control"),
    contentDisposition: reader.header("x-ms-blob-content-disposition"),
  });
}

const defaultContentType = "application/octet-stream";

/** The content headers of a response. Recorded from Azure: empty values are omitted, except that of
 *  Content-Disposition. */
export function renderHttpHeaders(headers: HttpHeaders) {
  return {
    "Content-Type": contentTypeOf(headers) || undefined,
    "Content-Encoding": headers.contentEncoding || undefined,
    "Content-Language": headers.contentLanguage || undefined,
    "Cache-Control": headers.cacheControl || undefined,
    "Content-Disposition": headers.contentDisposition,
  };
}

/** The content type: empty after Set Blob Properties without one, the default for a blob that was
 *  created without one. */
export function contentTypeOf({ contentType }: HttpHeaders): string {
  return contentType ?? defaultContentType;
}

/** The first x-ms-version in which the response to a write with an MD5 also has the CRC64. */
const bothSince: Version = "2026-10-06";

/** The checksum header in the response to a write: the MD5 if the client sent one, otherwise the
 *  CRC64. Versions without CRC64 always return the MD5 (recorded from Azure). */
export function bodyChecksum(received: ReceivedBody, version: string) {
  const { md5, crc64 } = received;
  if (version < crc64Since) return { "Content-MD5": md5 && encodeBase64(md5) };
  if (version >= bothSince) return bothChecksums(received, version);
  return md5 !== undefined
    ? { "Content-MD5": encodeBase64(md5) }
    : { "x-ms-content-crc64": crc64 && encodeBase64(crc64) };
}

/** Both checksum headers, for Put Blob, Put Page From URL and Append Block From URL. Recordings of
 *  Azure have one or the other, so the response has both. */
export function bothChecksums({ md5, crc64 }: ReceivedBody, version: string) {
  return {
    "Content-MD5": md5 && encodeBase64(md5),
    "x-ms-content-crc64": version < crc64Since ? undefined : crc64 && encodeBase64(crc64),
  };
}

/** How a record is encrypted: with a customer-provided key, or in an encryption scope. Empty: with
 *  the key of the account. */
type BlobEncryption = Pick<BlobRecord, "keySha256" | "encryptionScope">;

export function encryptionHeaders({ keySha256, encryptionScope }: BlobEncryption) {
  return {
    "x-ms-encryption-key-sha256": keySha256 && encodeBase64(keySha256),
    "x-ms-encryption-scope": encryptionScope,
  };
}

/** Chooses the encryption of a new blob or block: the customer-provided key, the scope in the
 *  request, or the default scope of the container, which the container may enforce. */
export function chooseEncryption(
  { clientKey, scope }: Encryption,
  { defaultEncryptionScope, denyEncryptionScopeOverride }: ContainerRecord,
): Result<BlobEncryption> {
  const isEnforced = denyEncryptionScopeOverride === true && defaultEncryptionScope !== undefined;
  const differs =
    clientKey !== undefined || (scope ?? defaultEncryptionScope) !== defaultEncryptionScope;
  if (isEnforced && differs) return fail("RequestForbiddenByContainerEncryptionPolicy");
  if (clientKey !== undefined) return ok({ keySha256: clientKey.sha256 });
  const encryptionScope = scope ?? defaultEncryptionScope;
  return ok(encryptionScope === undefined ? {} : { encryptionScope });
}

/** Compares the scope of a request that changes a blob, or the default scope of the container, with
 *  that of the blob. Scopes are named keys of the customer, so the faults are those of keys. A
 *  directory has no scope, even if the container has a default. */
export function compareScopes(
  stored: string | undefined,
  { scope }: Encryption,
  { defaultEncryptionScope }: ContainerRecord,
): Result<void> {
  const given = stored === undefined ? scope : (scope ?? defaultEncryptionScope);
  if (stored === given) return ok(undefined);
  if (given === undefined) return fail("BlobUsesCustomerSpecifiedEncryption");
  if (stored === undefined) return fail("BlobDoesNotUseCustomerSpecifiedEncryption");
  return fail("BlobCustomerSpecifiedEncryptionMismatch");
}

/** Rejects an encryption scope (a key that has a name) that the account does not have. */
export function checkScope(name: string | undefined, { encryptionScopes }: Features): Result<void> {
  const isKnown = name === undefined || encryptionScopes?.includes(name) !== false;
  return isKnown ? ok(undefined) : fail("EncryptionScopeNotFound");
}

/** Compares the hash of the customer-provided key of a request with that of a blob; a fault if they
 *  differ or only one exists. */
export function compareKeys(
  stored: Uint8Array | undefined,
  given: Uint8Array | undefined,
): Result<void> {
  if (stored === undefined && given === undefined) return ok(undefined);
  if (given === undefined) return fail("BlobUsesCustomerSpecifiedEncryption");
  if (stored === undefined) return fail("BlobDoesNotUseCustomerSpecifiedEncryption");
  const same = Buffer.compare(stored, given) === 0;
  return same ? ok(undefined) : fail("BlobCustomerSpecifiedEncryptionMismatch");
}

/** `x-ms-tags: name=value&…` of an operation that creates a blob; undefined without tags. */
export const tagsHeader: Param<Tags | undefined> = {
  sources: ["x-ms-tags"],
  setsTags: true,
  parse: (reader) => {
    const text = reader.header("x-ms-tags");
    return text === undefined || text === "" ? ok(undefined) : parseTagsHeader(text);
  },
};

/** Rejects a body in operations that create an empty append or page blob: its bytes would be
 *  lost. */
export const emptyBody: Param<undefined> = {
  sources: ["Content-Length"],
  parse: (reader) => {
    const length = reader.header("content-length") ?? "0";
    return length === "0" ? ok(undefined) : invalidHeader("Content-Length", length);
  },
};

/** The parameters of Put Block List. Put Blob has the same, except for `headers`. */
export const blockBlobParams = {
  metadata,
  headers: blobHeaders,
  tags: tagsHeader,
  tier: blockBlobTier,
  protection,
  encryption,
};

/** What operations that create a blob have in common: Put Blob, Put Block List and the copies take
 *  these fields over into their declarations. */
export const blobCreation = {
  permission: { letters: "cw", resourceType: "o", overwrite: true },
  target: "may-exist",
  conditions: "create",
  lease: "match-if-leased",
  etag: "renew",
  policy: {
    content: "replace",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
    event: "PutBlob",
  },
} as const;

/** The header with which Azure responds to writes of content, because it encrypts all data. */
export const serverEncrypted = { "x-ms-request-server-encrypted": "true" } as const;

interface CreationContext extends OverwriteContext {
  readonly input: { readonly protection: Protection; readonly encryption: Encryption };
}

/** The fields of a new blob that the operation chooses. `newBlobRecord` sets dates, lease, version
 *  and encryption. */
export type NewBlob = Pick<
  BlobRecord,
  | "type"
  | "headers"
  | "metadata"
  | "tags"
  | "tier"
  | "rehydration"
  | "directory"
  | "sequenceNumber"
  | "lineage"
  | "committedBlockCount"
  | "sealed"
  | "copy"
>;

/** What a creation writes and returns beside the record of the new blob. */
interface Creation {
  /** Content of the new blob; undefined: the blob is empty. */
  readonly content?: ContentPlan | undefined;
  /** The stored upload of the name, whose uncommitted blocks are removed; undefined: none. */
  readonly upload?: UploadRecord | undefined;
  /** Effects beside writing the record and removing the upload; undefined: none. */
  readonly effects?: readonly Effect[];
  readonly headers: readonly ReplyHeaders[];
}

/** The record of a new blob. A replaced blob passes on its creation time and its lease, uncommitted
 *  blocks their lease. All fields are listed, because every put creates a record, and copies by
 *  spreading cost a tenth of the memory of a put. */
export function newBlobRecord(
  context: OverwriteContext,
  blob: NewBlob,
  encryptedWith: BlobEncryption = {},
  { immutability, legalHold }: Partial<Protection> = {},
): BlobRecord {
  const { target, newETag, now } = context;
  return {
    etag: newETag,
    created: target?.created ?? now,
    type: blob.type,
    content: emptyContent,
    headers: blob.headers,
    metadata: blob.metadata,
    lease: heldLease(context),
    tags: blob.tags,
    tier: blob.tier,
    tierChanged: blob.tier === undefined ? undefined : now,
    rehydration: blob.rehydration,
    directory: blob.directory,
    sequenceNumber: blob.sequenceNumber,
    lineage: blob.lineage,
    committedBlockCount: blob.committedBlockCount,
    sealed: blob.sealed,
    copy: blob.copy,
    versionId: nextVersion(context),
    immutability,
    legalHold,
    keySha256: encryptedWith.keySha256,
    encryptionScope: encryptedWith.encryptionScope,
  };
}

/** The reply that creates a blob, or a fault: the one in `blob`, or that the container forbids the
 *  encryption. A blob that it replaces stays as a version or soft-deleted snapshot, as the account
 *  is configured. */
export function createBlob(
  context: CreationContext,
  blob: Result<NewBlob>,
  { content, upload, effects, headers }: Creation,
) {
  const { encryption: given, protection: kept } = context.input;
  const encryptedWith = chooseEncryption(given, context.scope.container);
  if (!encryptedWith.ok) return encryptedWith;
  if (!blob.ok) return blob;
  const put = newBlobRecord(context, blob.value, encryptedWith.value, kept);
  const dropped = dropUpload(blobKey(context), upload);
  return {
    put,
    content,
    preserve: preservePrevious(context),
    effects: effects === undefined ? dropped : [...dropped, ...effects],
    headers: [...headers, ...furtherHeaders(put)],
  };
}

/** Headers that few responses have: most accounts have neither encryption scopes nor versions. */
function furtherHeaders(put: BlobRecord) {
  const { keySha256, encryptionScope, versionId } = put;
  if (keySha256 === undefined && encryptionScope === undefined && versionId === undefined) {
    return noFurtherHeaders;
  }
  return [encryptionHeaders(put), { "x-ms-version-id": versionHeader(versionId) }];
}

const noFurtherHeaders: readonly [] = [];
