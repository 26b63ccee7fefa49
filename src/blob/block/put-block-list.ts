import { compose } from "../../content/plan.ts";
import { metadata } from "../../operation/common-params.ts";
import { emptyContent, type ContentPart } from "../../content/content-ref.ts";
import { encryption } from "../../protocol/encryption.ts";
import { spend, unitsPerIterationMax } from "../../base/loop-share.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  chooseEncryption,
  compareKeys,
  encryptionHeaderNames,
  encryptionHeaders,
} from "../shared/blob-encryption.ts";
import { protection } from "../protection/protection.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { bodyChecksum } from "../shared/checksum-headers.ts";
import { blobHeaders } from "../shared/http-headers.ts";
import {
  blobKey,
  dropUpload,
  preservePrevious,
  nextVersion,
  versionHeader,
} from "../shared/overwrite.ts";
import { tagsHeader } from "../shared/create-params.ts";
import { blockBlobTier } from "../shared/tier.ts";
import { parseBlockList, type BlockListEntry } from "./block-list-body.ts";
import {
  committedBlocks,
  findUpload,
  piecesOf,
  stagedBlocks,
  type UploadLookup,
} from "./read-blocks.ts";

/** Limit of this server for the request body. */
const blockListBytesMax = 8 * 1024 * 1024;

/** The bytes of a block. */
interface KeyedPart extends ContentPart {
  /** SHA-256 of the customer-provided key with which the bytes are encrypted; undefined without
   *  one. */
  readonly keySha256: Uint8Array | undefined;
}

type PartsById = ReadonlyMap<string, KeyedPart>;

/** learn.microsoft.com/rest/api/storageservices/put-block-list */
export const putBlockList = operation({
  name: "Put Block List",
  ids: ["BlockBlob_CommitBlockList"],
  route: { method: "PUT", resource: "blob", query: { comp: "blocklist" } },
  since: "2009-09-19",
  params: {
    metadata,
    headers: blobHeaders,
    tags: tagsHeader,
    tier: blockBlobTier,
    protection,
    encryption,
  },
  body: { kind: "xml", bytesMax: blockListBytesMax, parse: parseBlockList },
  permission: { letters: "w", resourceType: "o" },
  target: "may-exist",
  conditions: "create",
  lease: "match-if-leased",
  etag: "renew",
  effect: "writes",
  policy: {
    content: "replace",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
  },
  success: {
    status: 201,
    headers: [
      "Content-MD5",
      "x-ms-content-crc64",
      "x-ms-request-server-encrypted",
      "x-ms-version-id",
      ...encryptionHeaderNames,
    ],
  },
  reads: async (view, { scope, target, input }) => {
    const lookup = await findUpload(view, blobKey({ scope }));
    const uncommitted = await uncommittedParts(view, lookup);
    const committed = await committedParts(view, target);
    return { lookup, parts: await chooseParts(input.body, { uncommitted, committed }) };
  },
  lastModifiedOf: ({ lookup }) => lookup.live?.touched,
  decide: (context) => {
    const { target, input, readResult, newETag, now, received, version } = context;
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    if (target?.writtenBy === "dfs") return fail("BlobOperationNotSupported");
    const { parts } = readResult;
    if (!parts.ok) return parts;
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    for (const { keySha256 } of parts.value) {
      const fits = compareKeys(keySha256, encryptedWith.value.keySha256);
      if (!fits.ok) return fits;
    }
    const versionId = nextVersion(context);
    return {
      put: {
        etag: newETag,
        created: target?.created ?? now,
        type: "BlockBlob" as const,
        content: emptyContent,
        headers: input.headers,
        metadata: input.metadata,
        lease: target?.lease,
        tags: input.tags,
        tier: input.tier,
        tierChanged: input.tier === undefined ? undefined : now,
        versionId,
        ...input.protection,
        ...encryptedWith.value,
      },
      content: compose(parts.value),
      preserve: preservePrevious(context),
      effects: dropUpload(blobKey(context), readResult.lookup.stored),
      headers: {
        ...bodyChecksum(received, version),
        ...encryptionHeaders(encryptedWith.value),
        "x-ms-request-server-encrypted": "true",
        "x-ms-version-id": versionHeader(versionId),
      },
    };
  },
});

async function uncommittedParts(view: RecordView, { live }: UploadLookup): Promise<PartsById> {
  const parts = new Map<string, KeyedPart>();
  for await (const batch of stagedBlocks(view, live)) {
    for (const { id, content, keySha256 } of batch) {
      parts.set(id, { pieces: await piecesOf(view, content), block: id, keySha256 });
    }
  }
  return parts;
}

async function committedParts(
  view: RecordView,
  target: BlobRecord | undefined,
): Promise<PartsById> {
  const parts = new Map<string, KeyedPart>();
  for await (const batch of committedBlocks(view, target?.content)) {
    for (const { id, pieces } of batch) {
      parts.set(id, { pieces, block: id, keySha256: target?.keySha256 });
    }
  }
  return parts;
}

interface AvailableBlocks {
  readonly uncommitted: PartsById;
  readonly committed: PartsById;
}

/** Most entries looked up in one event-loop iteration: a few milliseconds of work. */
const entriesPerIterationMax = 4096;

/** Finds the block of each entry. An id may be repeated, but always with the same list. */
async function chooseParts(
  entries: readonly BlockListEntry[],
  { uncommitted, committed }: AvailableBlocks,
): Promise<Result<readonly KeyedPart[]>> {
  const sources = new Map<string, string>();
  const chosen: KeyedPart[] = [];
  for (const { from, id } of entries) {
    const isStepDone = chosen.length % entriesPerIterationMax === entriesPerIterationMax - 1;
    if (isStepDone) await spend(unitsPerIterationMax);
    if ((sources.get(id) ?? from) !== from) return fail("InvalidBlockList");
    sources.set(id, from);
    const part =
      (from === "Committed" ? undefined : uncommitted.get(id)) ??
      (from === "Uncommitted" ? undefined : committed.get(id));
    if (part === undefined) return fail("InvalidBlockList");
    chosen.push(part);
  }
  return ok(chosen);
}
