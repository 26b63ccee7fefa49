import { parseGuid } from "../../protocol/guid.ts";
import { invalidHeader } from "../../protocol/faults.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { boolean, header, integer, oneOf } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { FetchedProperties } from "../../operation/source.ts";
import type { Tags } from "../../protocol/tags.ts";
import type { Ticks } from "../../base/ticks.ts";
import { parseSequenceNumber } from "../page/put-page.ts";
import type { BlobRecord } from "../records.ts";
import { decodeBase64 } from "../../base/base64.ts";
import type { NewBlob } from "../shared/create-blob.ts";
import { appendedBlocksMax } from "../shared/limits.ts";
import { archive, beginRehydration, pageTiers } from "../tier/rehydration.ts";

/** The record that a copy creates, from the properties of its source and of the request: for Copy
 *  Blob, Put Blob From URL, Copy Blob From URL and Incremental Copy Blob. */

/* Headers of Copy Blob, some of which Put Blob From URL and Copy Blob From URL have, too. */
export const rehydratePriority = header("x-ms-rehydrate-priority", oneOf("High", "Standard"));
export const sealBlob = header("x-ms-seal-blob", boolean);
export const tagOption = header("x-ms-copy-source-tag-option", oneOf("REPLACE", "COPY"));
export const sourceLeaseId = header("x-ms-source-lease-id", parseGuid);

/** Properties of a copy source that the copy takes over, unless the request sets them. */
export type SourceProperties = Pick<
  BlobRecord,
  "type" | "headers" | "metadata" | "tags" | "tier" | "rehydration"
> &
  Pick<BlobRecord, "sequenceNumber" | "committedBlockCount" | "sealed">;

/** The properties of the copy that the request sets. */
export interface CopyOptions {
  readonly metadata: Metadata;
  readonly tags: Tags | undefined;
  /** `COPY`: the tags of the source; otherwise those of the request. */
  readonly tagOption?: "REPLACE" | "COPY" | undefined;
  readonly tier: string | undefined;
  readonly priority?: "High" | "Standard" | undefined;
  readonly seal?: boolean | undefined;
}

/** What a copy depends on besides the source and the request. `target` is the blob that it
 *  replaces. */
interface CopyContext {
  readonly newETag: Ticks;
  readonly now: Ticks;
  readonly target: BlobRecord | undefined;
}

/** The fields of the new blob, for all operations that copy. The caller adds `copy`, the state of
 *  the copy. */
export function copiedBlob(
  source: SourceProperties,
  options: CopyOptions,
  { newETag, now, target }: CopyContext,
): Result<NewBlob> {
  const { type } = source;
  if (target !== undefined && target.type !== type) return fail("InvalidBlobType");
  const tierFields = tierOf(source, options, now);
  if (!tierFields.ok) return tierFields;
  const copiesTags = options.tagOption === "COPY";
  if (copiesTags && options.tags !== undefined) {
    return fail("BothUserTagsAndSourceTagsCopyPresentException");
  }
  const sealed = options.seal ?? source.sealed === true;
  return ok({
    type,
    headers: source.headers,
    metadata: options.metadata.length > 0 ? options.metadata : source.metadata,
    tags: copiesTags ? source.tags : options.tags,
    ...tierFields.value,
    sequenceNumber: type === "PageBlob" ? (source.sequenceNumber ?? 0n) : undefined,
    lineage: type === "PageBlob" ? newETag : undefined,
    committedBlockCount: type === "AppendBlob" ? (source.committedBlockCount ?? 0) : undefined,
    sealed: type === "AppendBlob" && sealed ? true : undefined,
  });
}

type TierFields = Pick<BlobRecord, "tier" | "rehydration">;

/** The tier of a copy. An archived source can be copied only to an online tier; the copy is then
 *  archived until its rehydration is complete. */
function tierOf(
  { type, tier: sourceTier, rehydration: pending }: SourceProperties,
  { tier, priority }: CopyOptions,
  now: Ticks,
): Result<TierFields> {
  if (sourceTier === archive && (tier === undefined || tier === archive)) {
    return fail(pending === undefined ? "BlobArchived" : "BlobBeingRehydrated");
  }
  if (tier === undefined) return ok({});
  const isPageTier = pageTiers.some((each) => each === tier);
  if (type === "BlockBlob" && isPageTier) return invalidHeader("x-ms-access-tier", tier);
  if (type !== "BlockBlob" && !isPageTier) return fail("InvalidBlobTier");
  if (sourceTier !== archive) return ok({ tier });
  const rehydration = beginRehydration(tier, priority ?? "Standard", now);
  return ok({ tier: archive, rehydration });
}

const md5Bytes = 16;
const parseBlockCount = integer(0, appendedBlocksMax);

/** Reads the properties of a fetched source from the headers of its response. */
export function remoteSourceProperties(fetched: FetchedProperties): SourceProperties {
  const { header: headerOf, metadata, tags } = fetched;
  const type = headerOf("x-ms-blob-type");
  const md5 = decodeBase64(headerOf("content-md5") ?? headerOf("x-ms-blob-content-md5") ?? "");
  return {
    type: type === "PageBlob" || type === "AppendBlob" ? type : "BlockBlob",
    headers: {
      contentType: headerOf("content-type"),
      contentEncoding: headerOf("content-encoding"),
      contentLanguage: headerOf("content-language"),
      cacheControl: headerOf("cache-control"),
      contentDisposition: headerOf("content-disposition"),
      contentMd5: md5?.length === md5Bytes ? md5 : undefined,
    },
    metadata,
    tags,
    sequenceNumber: parseSequenceNumber(headerOf("x-ms-blob-sequence-number") ?? ""),
    committedBlockCount: parseBlockCount(headerOf("x-ms-blob-committed-block-count") ?? ""),
    sealed: headerOf("x-ms-blob-sealed") === "true" ? true : undefined,
  };
}
