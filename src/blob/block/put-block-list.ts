import type { LoopShare } from "../../base/loop-share.ts";
import type { XmlParser } from "../../operation/operation.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { invalidXmlAt, type XmlElement } from "../../encoding/xml.ts";
import { committedBlocksMax } from "../shared/limits.ts";
import { compose, type ContentPart } from "../../content/content-ref.ts";
import type { RecordView } from "../../operation/view.ts";
import {
  blobCreation,
  blockBlobParams,
  chooseEncryption,
  compareKeys,
  compareScopes,
  createBlob,
  serverEncrypted,
  bodyChecksum,
} from "../shared/create-blob.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { blockPermission, isBlockId } from "./put-block.ts";
import { blobKey, dropCommitted } from "../shared/overwrite.ts";
import {
  committedBlocks,
  findUpload,
  piecesOf,
  stagedBlocks,
  type UploadLookup,
} from "./read-blocks.ts";

/** Put Block List: makes uploaded blocks the content of a blob. Clients upload large blobs as
 *  blocks, in parallel and with retries, and commit them with this request. */

/** An entry of the body of Put Block List: the id of a block, and the list to find it in; `Latest`
 *  is the uncommitted list, and then the committed one. */
interface BlockListEntry {
  readonly from: "Committed" | "Uncommitted" | "Latest";
  readonly id: string;
}

const listNames: ReadonlySet<string> = new Set(["Committed", "Uncommitted", "Latest"]);

/** Parses `<BlockList>` with the elements `<Committed>`, `<Uncommitted>` and `<Latest>` in any
 *  order. */
const parseBlockList: XmlParser<readonly BlockListEntry[]> = (root, loop) => {
  if (root === undefined || root.name !== "BlockList") return fail("InvalidXmlDocument");
  if (root.children.length > committedBlocksMax) return fail("BlockListTooLong");
  const entries: BlockListEntry[] = [];
  if (root.children.length > entriesPerStep) return readInSteps(loop, root.children, entries);
  const malformed = readEntries(root.children, entries);
  return malformed ?? ok(entries);
};

/** Entries of the block list that are parsed or looked up per step, and the cost of a step in units
 *  of event-loop time (`base/loop-share.ts`). Between steps other requests run. */
const entriesPerStep = 512;
const unitsPerStep = 64;

async function readInSteps(
  loop: LoopShare,
  children: readonly XmlElement[],
  entries: BlockListEntry[],
): Promise<Result<readonly BlockListEntry[]>> {
  for (let from = 0; from < children.length; from += entriesPerStep) {
    await loop.spend(unitsPerStep);
    const malformed = readEntries(children.slice(from, from + entriesPerStep), entries);
    if (malformed !== undefined) return malformed;
  }
  return ok(entries);
}

function readEntries(
  children: readonly XmlElement[],
  entries: BlockListEntry[],
): Failure | undefined {
  for (const child of children) {
    if (!listNames.has(child.name)) return invalidXmlAt(child.start, "Unexpected element.");
    const id = child.text.trim();
    if (!isBlockId(id)) return fail("InvalidBlockList");
    entries.push({ from: child.name as BlockListEntry["from"], id });
  }
  return undefined;
}

/** Limit of this server for the request body: 50,000 ids of the maximum length take 5.5 MiB. */
const blockListBytesMax = 8 * 1024 * 1024;

/** The bytes of a block, and how they are encrypted: Put Block List must name the same key or
 *  scope. */
interface KeyedPart extends ContentPart {
  /** SHA-256 of the customer-provided key with which the bytes are encrypted; undefined without
   *  one. */
  readonly keySha256: Uint8Array | undefined;
  /** The encryption scope of the request that sent the block; undefined without one, and for a
   *  committed block. */
  readonly encryptionScope?: string | undefined;
}

type PartsById = ReadonlyMap<string, KeyedPart>;

/** Makes blocks, in the order of the request's list, the content of a block blob.
 *  learn.microsoft.com/rest/api/storageservices/put-block-list */
export const putBlockList = operation({
  ...blobCreation,
  name: "Put Block List",
  ids: ["BlockBlob_CommitBlockList"],
  route: { method: "PUT", resource: "blob", query: { comp: "blocklist" } },
  params: blockBlobParams,
  body: {
    kind: "xml",
    bytesMax: blockListBytesMax,
    parse: parseBlockList,
    returnsChecksum: true,
  },
  permission: blockPermission,
  policy: { ...blobCreation.policy, event: "PutBlockList" },
  status: 201,
  reads: async (view, { scope, target, input }) => {
    const lookup = await findUpload(view, scope);
    const uncommitted = await uncommittedParts(view, lookup);
    const committed = await committedParts(view, target);
    const available = { uncommitted: uncommitted.parts, committed };
    const parts = await chooseParts(view.loop, input.body, available);
    return { lookup, parts, stagedBytes: uncommitted.bytes };
  },
  lastModifiedOf: ({ lookup }) => lookup.live?.touched,
  decide: (context) => {
    const { target, input, readResult, received, version } = context;
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    if (target?.writtenBy === "dfs") return fail("BlobOperationNotSupported");
    const { parts } = readResult;
    if (!parts.ok) return parts;
    const encryptedWith = chooseEncryption(input.encryption, context.scope.container);
    if (!encryptedWith.ok) return encryptedWith;
    for (const { keySha256, encryptionScope: staged } of parts.value) {
      const fits = compareKeys(keySha256, encryptedWith.value.keySha256);
      if (!fits.ok) return fits;
      if (staged === undefined) continue;
      const same = compareScopes(staged, input.encryption, context.scope.container);
      if (!same.ok) return same;
    }
    const { headers, metadata, tags, tier } = input;
    const blob = { type: "BlockBlob" as const, headers, metadata, tags, tier };
    return createBlob(context, ok(blob), {
      content: compose(parts.value),
      effects: dropCommitted(blobKey(context), readResult.lookup, readResult.stagedBytes),
      headers: [bodyChecksum(received, version), serverEncrypted],
    });
  },
});

interface Uncommitted {
  readonly parts: PartsById;
  readonly bytes: number;
}

async function uncommittedParts(view: RecordView, { live }: UploadLookup): Promise<Uncommitted> {
  const parts = new Map<string, KeyedPart>();
  let bytes = 0;
  for await (const batch of stagedBlocks(view, live)) {
    for (const { id, content, keySha256, encryptionScope } of batch) {
      bytes += content.length;
      const pieces = await piecesOf(view, content);
      parts.set(id, { pieces, block: id, keySha256, encryptionScope });
    }
  }
  return { parts, bytes };
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

/** Finds the block of each entry of the list. An id may be repeated, but always with the same
 *  list. */
async function chooseParts(
  loop: LoopShare,
  entries: readonly BlockListEntry[],
  { uncommitted, committed }: AvailableBlocks,
): Promise<Result<readonly KeyedPart[]>> {
  const sources = new Map<string, string>();
  const chosen: KeyedPart[] = [];
  for (const { from, id } of entries) {
    const isStepDone = chosen.length % entriesPerStep === entriesPerStep - 1;
    if (isStepDone) await loop.spend(unitsPerStep);
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
