import { emptyContent, type ContentPlan, type Received } from "../../content/content-ref.ts";
import type { Effect } from "../../operation/effects.ts";
import type { Runtime } from "../../operation/execute.ts";
import { edit, resize, write } from "../../content/plan.ts";
import { isRangeLocked } from "../locks/byte-ranges.ts";
import { breakCaches } from "../locks/caching.ts";
import type { LockState } from "../locks/lock-state.ts";
import type { NodeRecord } from "../records.ts";
import { coveredBytes } from "../range/covered.ts";
import { afterRangeWrite } from "../range/range-write.ts";
import { clearEdits } from "../range/clear-range.ts";
import { fileBytesMax, inlineRangeBytesMax } from "../shared/limits.ts";
import { checkQuota, usedBytes } from "../shared/quota.ts";
import { holds } from "./read.ts";
import { done, refuse, type FileResultOrWait } from "./file-result.ts";
import { changeNode } from "./node-effects.ts";
import {
  writeTransaction,
  keepLocks,
  type FilePlace,
  type Found,
  type FileTransaction,
} from "./file-transaction.ts";

export interface Writing {
  readonly place: FilePlace;
  readonly handle: bigint;
  /** The handle has set the time of the last write itself, and keeps it. */
  readonly keepsTimes: boolean;
}

/** At an offset, or behind whatever is there. */
export interface FileWriteRequest extends Writing {
  readonly at: number | "end";
  readonly bytes: Uint8Array;
}

/** The bytes are on disk before the record speaks of them. */
export async function writeFile(
  runtime: Runtime,
  wish: FileWriteRequest,
): Promise<FileResultOrWait<NodeRecord>> {
  const { bytes } = wish;
  const received = await runtime.content.receive(once(bytes), {
    length: bytes.length,
    lengthMax: bytes.length,
    inlineBytesMax: isSmallFile(wish) ? smallFileBytesMax : inlineRangeBytesMax,
    md5: false,
    crc64: false,
  });
  try {
    return await writeTransaction(runtime, (work) => writeBytes(work, wish, received));
  } finally {
    runtime.content.discard(received);
  }
}

/** A file this small is kept in its record, and costs one flush instead of two. */
const smallFileBytesMax = 4096;

function isSmallFile({ at, bytes }: FileWriteRequest): boolean {
  return at !== "end" && at + bytes.length <= smallFileBytesMax;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function writeBytes(
  work: FileTransaction,
  wish: FileWriteRequest,
  received: Received,
): Promise<FileResultOrWait<NodeRecord>> {
  const found = await work.find(wish.place);
  if (found === undefined) return refuse("file-closed");
  const content = found.node.content ?? emptyContent;
  const at = wish.at === "end" ? content.length : wish.at;
  const { length } = wish.bytes;
  if (at + length > fileBytesMax) return refuse("too-large");
  const touched = await touch(work, wish, found, { from: at, length });
  if (touched.kind !== "done") return touched;
  const covered = await coveredBytes(work.view, content, { from: at, length });
  const delta = length - covered;
  const used = await usedBytes(work.view, found.share);
  if (!checkQuota(found.share, used, delta).ok) return refuse("disk-full");
  const effects = revisionOf(work, wish, found, { delta, plan: write(content, at, received) });
  await work.apply([...touched.value, ...effects]);
  return done(found.node);
}

interface Stretch {
  readonly from: number;
  readonly length: number;
}

/** Whoever changes bytes stops at locks, and whoever caches them hears of it. */
async function touch(
  work: FileTransaction,
  { handle }: Writing,
  { share, node }: Found,
  { from, length }: Stretch,
): Promise<FileResultOrWait<readonly Effect[]>> {
  const state = await work.locksOf(share.id, node.id);
  if (!holds(state, handle)) return refuse("file-closed");
  const stretch = { offset: BigInt(from), length: BigInt(length) };
  if (isRangeLocked(state, stretch, { open: handle, writes: true })) {
    return refuse("lock-conflict");
  }
  return breakForWrite(work, state, { share: share.id, file: node.id, handle });
}

export async function breakForWrite(
  work: FileTransaction,
  state: LockState,
  { share, file, handle }: { share: bigint; file: bigint; handle: bigint },
): Promise<FileResultOrWait<readonly Effect[]>> {
  if (state.caches.length === 0) return done([]);
  const ownKey = state.opens.find(({ id }) => id === handle)?.cacheKey;
  const breaking = breakCaches(state, "write", { ownKey, now: work.now });
  const kept = breaking.keysToNotify.length === 0 ? [] : [keepLocks(share, file, breaking.state)];
  if (breaking.waitingSince === undefined) return done(kept);
  await work.apply(kept);
  return { kind: "wait", file };
}

function revisionOf(
  work: FileTransaction,
  { keepsTimes }: Writing,
  found: Found,
  { delta, plan }: { readonly delta: number; readonly plan: ContentPlan },
): readonly Effect[] {
  const newETag = work.stampAfter(found.node.etag);
  const keepsLastWrite = keepsTimes ? ("preserve" as const) : ("now" as const);
  const next = afterRangeWrite(found.node, { delta, newETag, keepsLastWrite });
  return changeNode(found, { ...next, etag: newETag }, plan);
}

/** Makes the file shorter, or longer by a hole. */
export function resizeFile(
  runtime: Runtime,
  writing: Writing,
  length: number | ((present: number) => number),
): Promise<FileResultOrWait<NodeRecord>> {
  return writeTransaction(runtime, async (work) => {
    const found = await work.find(writing.place);
    if (found === undefined) return refuse("file-closed");
    const content = found.node.content ?? emptyContent;
    const wanted = typeof length === "number" ? length : length(content.length);
    if (wanted > fileBytesMax) return refuse("too-large");
    const from = Math.min(wanted, content.length);
    const cut = { from, length: Math.max(wanted, content.length) - from };
    const touched = await touch(work, writing, found, cut);
    if (touched.kind !== "done") return touched;
    if (wanted === content.length) {
      await work.apply(touched.value);
      return done(found.node);
    }
    const lost = wanted < content.length ? await coveredBytes(work.view, content, cut) : 0;
    const plan = resize(content, wanted);
    const effects = revisionOf(work, writing, found, { delta: -lost, plan });
    await work.apply([...touched.value, ...effects]);
    return done(found.node);
  });
}

/** Zeros inside the file; whole sectors give their space back. */
export function zeroFile(
  runtime: Runtime,
  writing: Writing,
  { from, length }: Stretch,
): Promise<FileResultOrWait<NodeRecord>> {
  return writeTransaction(runtime, async (work) => {
    const found = await work.find(writing.place);
    if (found === undefined) return refuse("file-closed");
    const content = found.node.content ?? emptyContent;
    const inside = Math.max(0, Math.min(length, content.length - from));
    const stretch = { from, length: inside };
    const touched = await touch(work, writing, found, stretch);
    if (touched.kind !== "done") return touched;
    if (inside === 0) return done(found.node);
    const covered = await coveredBytes(work.view, content, stretch);
    const { edits, written } = clearEdits(stretch);
    const plan = edit(content, ...edits);
    const effects = revisionOf(work, writing, found, { delta: written - covered, plan });
    await work.apply([...touched.value, ...effects]);
    return done(found.node);
  });
}
