import { readStagingState, stageBlock, isBlockId } from "../../blob/block/put-block.ts";
import {
  type BlobRecord,
  type ContainerRecord,
  blobs,
  generations,
  type BlobKey,
} from "../../blob/records.ts";
import {
  asPart,
  compose,
  edit,
  inlinePartBytesMax,
  inlineWholeBytesMax,
  type ContentEdit,
  type ContentPlan,
  type ReceivedBody,
} from "../../content/content-ref.ts";
import { checkBlobName } from "../../protocol/names.ts";
import { latestVersion } from "../../protocol/versions.ts";
import { applyEffects } from "../../operation/apply.ts";
import { newId } from "../../operation/identifiers.ts";
import { Records } from "../../operation/records.ts";
import type { ExtentChunk } from "./azurite-folder.ts";
import {
  blobParts,
  blobRecordOf,
  contentLengthOf,
  snapshotOf,
  storedChunkOf,
  type BlobPart,
  countOf,
  fieldsOf,
  requiredText,
  type Fields,
} from "./document-fields.ts";
import { runLimited, type ImportContext } from "./import-context.ts";
import { ImportRefused } from "../../host/refused.ts";
import type { Random } from "../../base/world.ts";
import { createParents, hasFolderMark, withFolderMark } from "../../blob/tree/create-parents.ts";
import { findPath, splitPath } from "../../blob/tree/find-path.ts";
import { put, type Effect } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";

/** Imports the blobs and uncommitted blocks of Azurite, for `import-folder.ts`. */

/** Most blobs, parts of a blob and uncommitted blocks that are imported at the same time. Each part
 *  that is being received uses two buffers of 256 KiB. */
const blobsAtOnceMax = 4;
const partsAtOnceMax = 32;
const blocksAtOnceMax = 32;

const noEncryption = { clientKey: undefined, scope: undefined };

const blobCollection = "$BLOBS_COLLECTION$";
const blockCollection = "$BLOCKS_COLLECTION$";
/** The collections whose documents `importBlobs` reads. */
export const contentCollections = [blobCollection, blockCollection] as const;

/** The length of content, for the progress; also counts documents that are refused later. */
export function importedBytes(collection: string, document: Fields): number {
  if (collection === blockCollection) {
    return countOf(fieldsOf(document["persistency"])["count"]) ?? 0;
  }
  return document["isCommitted"] === false ? 0 : contentLengthOf(document);
}

export async function importBlobs(context: ImportContext): Promise<void> {
  const { folder, progress } = context;
  const done = (collection: string, document: Fields): void =>
    progress.add({ items: 1, bytes: importedBytes(collection, document) });
  const all = folder.documents("blob", (name) => name === blobCollection);
  await runLimited(all, blobsAtOnceMax, async ({ collection, fields }) => {
    await importBlob(context, fields);
    done(collection, fields);
  });
  const blocks = folder.documents("blob", (name) => name === blockCollection);
  await runLimited(blocks, blocksAtOnceMax, async ({ collection, fields }) => {
    await importBlock(context, fields);
    done(collection, fields);
  });
}

async function importBlob(context: ImportContext, document: Fields): Promise<void> {
  // A document of a blob that has only uncommitted blocks; `importBlock` imports these.
  if (document["isCommitted"] === false) return;
  const { counts } = context;
  const container = containerOf(context, document);
  const name = requiredText(document, "name");
  if (container === undefined) {
    counts.skipped += 1;
    return;
  }
  const at = snapshotOf(document);
  const address = { container, name, snapshot: at, isHierarchical: isInTree(context, document) };
  await naming(`blob ${requiredText(document, "containerName")}/${name}`, async () => {
    if (!checkBlobName(name).ok) throw new ImportRefused(["the name is not valid"]);
    await writeBlob(context, document, address);
  });
  if (at === undefined) counts.blobs += 1;
  else counts.snapshots += 1;
}

/** Writes the parts of a blob, 32 per transaction: a blob may have 50,000, and other transactions
 *  wait while a large one is committed. */
async function writeBlob(
  context: ImportContext,
  document: Fields,
  address: BlobAddress,
): Promise<void> {
  const parts = blobParts(document);
  const { type } = blobRecordOf(document, 0n);
  const length = contentLengthOf(document);
  const stored = parts.reduce((sum, { chunk }) => sum + chunk.count, 0);
  if (type !== "PageBlob" && stored !== length) {
    throw new ImportRefused([`has ${stored} bytes stored, expected ${length}`]);
  }
  let from = 0;
  do {
    const some = parts.slice(from, from + partsAtOnceMax);
    await writeParts(context, document, {
      address,
      parts: some,
      isFirst: from === 0,
      type,
      length,
    });
    from += partsAtOnceMax;
  } while (from < parts.length);
}

interface Writing {
  readonly address: BlobAddress;
  readonly parts: readonly BlobPart[];
  readonly isFirst: boolean;
  readonly type: BlobRecord["type"];
  readonly length: number;
}

async function writeParts(
  context: ImportContext,
  document: Fields,
  { address, parts, isFirst, type, length }: Writing,
): Promise<void> {
  const { store, content } = context.stores;
  const { random } = context;
  const isAlone = parts.length === 1 && isFirst && type === "BlockBlob";
  const inlineBytesMax = isAlone ? inlineWholeBytesMax : inlinePartBytesMax;
  const chunks = parts.map(({ chunk }) => chunk);
  const received = await receiveAll(context, chunks, inlineBytesMax);
  try {
    const written = parts.map(({ at, block }, index) => {
      const part = asPart(received[index]!, block);
      return { edit: "write", at, part } as const satisfies ContentEdit;
    });
    await store.transact(async (tx) => {
      const { before, parents, ...slot } = await openSlot(
        new Records(tx, content),
        address,
        random,
      );
      const imported = blobRecordOf(document, tx.now);
      const isMark = address.isHierarchical && isDirectoryMark(imported, address.name, length);
      if (isFirst && !isMark && before !== undefined) throw alreadyThere(before);
      const record = isMark ? directoryOf(imported, before, random) : (before ?? imported);
      const plan = planOf(record, written, isFirst ? length : undefined);
      await applyEffects(content, tx, [...parents, slot.put(record, plan)], tx.now);
    });
  } finally {
    for (const each of received) content.discard(each);
  }
}

type WriteEdit = Extract<ContentEdit, { edit: "write" }>;

/** The plan with which the content store adds parts to a blob. `length` is the length of a new page
 *  blob; otherwise undefined. */
function planOf(
  { type, content }: BlobRecord,
  written: readonly WriteEdit[],
  length: number | undefined,
): ContentPlan {
  if (length === undefined) return edit(content, ...written);
  if (type !== "PageBlob") return compose(written.map(({ part }) => part));
  const noPages = { kind: "slices", length: 0, slices: [] } as const;
  return edit(noPages, { edit: "resize", length }, ...written);
}

/** Stores the bytes of parts: all or none, so on a failure the stored ones are discarded. */
async function receiveAll(
  { folder, stores: { content } }: ImportContext,
  chunks: readonly ExtentChunk[],
  inlineBytesMax: number,
): Promise<readonly ReceivedBody[]> {
  const settled = await Promise.allSettled(
    chunks.map((chunk) => {
      const sizes = { length: chunk.count, lengthMax: chunk.count, inlineBytesMax };
      return content.receive(folder.bytes("blob", chunk), { ...sizes, md5: false, crc64: true });
    }),
  );
  const received = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failed = settled.find((each) => each.status === "rejected");
  if (failed === undefined) return received;
  for (const each of received) content.discard(each);
  throw failed.reason;
}

async function importBlock(context: ImportContext, document: Fields): Promise<void> {
  const { stores, random, counts } = context;
  const container = containerOf(context, document);
  const name = requiredText(document, "blobName");
  const blockId = requiredText(document, "name");
  if (container === undefined || !isBlockId(blockId) || !checkBlobName(name).ok) {
    counts.skipped += 1;
    return;
  }
  const isHierarchical = isInTree(context, document);
  const address = { container, name, snapshot: undefined, isHierarchical };
  const scope = { container };
  await naming(`uncommitted block ${blockId} of ${name}`, async () => {
    const chunk = storedChunkOf(document["persistency"]);
    const [received] = await receiveAll(context, [chunk], inlinePartBytesMax);
    if (received === undefined) return;
    try {
      const isStaged = await stores.store.transact(async (tx) => {
        const view = new Records(tx, stores.content);
        const { key, before: target, parents } = await openSlot(view, address, random);
        if (target?.directory !== undefined) return false;
        const readResult = await readStagingState(view, { key }, blockId);
        const input = { encryption: noEncryption };
        const decided = { target, readResult, blockId, received, scope, input };
        const staging = { ...decided, now: tx.now, version: latestVersion };
        const staged = stageBlock(key, { ...staging, newId: () => newId(random) });
        if ("ok" in staged) return false;
        await applyEffects(stores.content, tx, [...parents, ...staged.effects], tx.now);
        return true;
      });
      counts[isStaged ? "uncommittedBlocks" : "skipped"] += 1;
    } finally {
      stores.content.discard(received);
    }
  });
}

function isInTree({ staged }: ImportContext, document: Fields): boolean {
  return staged.isHierarchical(requiredText(document, "accountName"));
}

function containerOf({ staged }: ImportContext, document: Fields): ContainerRecord | undefined {
  const account = requiredText(document, "accountName");
  const name = requiredText(document, "containerName");
  return staged.find("container", { account, name })?.record;
}

/** Runs `work`, and prefixes the problems of an `ImportRefused` with the name of the resource. */
async function naming(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    throw new ImportRefused(
      error.problems.map((problem) => `${what}: ${problem}`),
      error,
    );
  }
}

/** Name and container of a blob to import. */
interface BlobAddress {
  readonly container: ContainerRecord;
  readonly name: string;
  /** Time of the snapshot; undefined for the blob itself. */
  readonly snapshot: Ticks | undefined;
  readonly isHierarchical: boolean;
}

/** Where an imported blob or blob snapshot is stored: under its name, or in a tree of directories
 *  if the account is hierarchical. Valid during one transaction. */
interface BlobSlot {
  readonly key: BlobKey;
  readonly before: BlobRecord | undefined;
  /** The effects that create the missing parent directories of the blob. */
  readonly parents: readonly Effect[];
  put(record: BlobRecord, content: ContentPlan): Effect;
}

/** Finds the slot of a blob. On a hierarchical account the name becomes a path. */
async function openSlot(view: Records, address: BlobAddress, random: Random): Promise<BlobSlot> {
  const { key, parents } = address.isHierarchical
    ? await findInTree(view, address, random)
    : { key: { container: address.container.id, name: address.name }, parents: noEffects };
  const { snapshot: at } = address;
  if (at === undefined) {
    const before = await view.get(blobs, key);
    return { key, parents, before, put: (record, content) => put(blobs, key, record, content) };
  }
  const generation = { ...key, at, kind: "snapshot" as const };
  const before = await view.get(generations, generation);
  const putSnapshot = (record: BlobRecord, content: ContentPlan) =>
    put(generations, generation, record, content);
  return { key, parents, before, put: putSnapshot };
}

const noEffects: readonly Effect[] = [];

async function findInTree(
  view: Records,
  { container, name }: BlobAddress,
  random: Random,
): Promise<{ readonly key: BlobKey; readonly parents: readonly Effect[] }> {
  const { now } = view;
  const found = await findPath(view, container.id, name);
  if (splitPath(name).length === 0) throw new ImportRefused(["the name is not valid"]);
  const creation = { now, newETag: now, newId: () => newId(random), callerId: undefined };
  const created = createParents({ container, ...found }, creation);
  if (created === undefined) return { key: found.key, parents: noEffects };
  if (!created.ok) throw new ImportRefused([parentProblem]);
  const { scope, effects } = created.value;
  return { key: (scope as { readonly key: BlobKey }).key, parents: effects };
}

const advice =
  "which an account with a hierarchical namespace cannot have: import into a flat account, or " +
  "rename one of both";
const parentProblem = `a part of its name is also the name of a blob, ${advice}`;

/** Whether a blob marks a directory: it is empty, and has the folder mark of Hadoop's tools or a
 *  name that ends in a slash. */
export function isDirectoryMark({ metadata, type }: BlobRecord, name: string, length: number) {
  const isMarked = hasFolderMark(metadata) || name.endsWith("/");
  return type === "BlockBlob" && length === 0 && isMarked;
}

/** The record of a directory that a blob marks. A directory that exists already, because blobs
 *  below it were imported before, keeps its id. */
function directoryOf(
  record: BlobRecord,
  before: BlobRecord | undefined,
  random: Random,
): BlobRecord {
  if (before !== undefined && before.directory === undefined) throw alreadyThere(before);
  const directory = before?.directory ?? newId(random);
  return { ...record, directory, metadata: withFolderMark(record.metadata) };
}

/** The refusal of a blob whose name or path is in use. */
function alreadyThere({ directory }: BlobRecord): ImportRefused {
  return new ImportRefused([directory === undefined ? "appears twice" : nameProblem]);
}

export const nameProblem = `other names continue its name after a slash, ${advice}`;
