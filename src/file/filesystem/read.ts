import { emptyContent } from "../../content/content-ref.ts";
import type { ContentReader } from "../../content/content.ts";
import type { Runtime } from "../../operation/execute.ts";
import { isRangeLocked } from "../locks/byte-ranges.ts";
import type { LockState } from "../locks/lock-state.ts";
import { done, refuse, type FileResult } from "./file-result.ts";
import { readSnapshot, type FilePlace } from "./file-transaction.ts";

export interface FileReadRequest {
  readonly place: FilePlace;
  readonly handle: bigint;
  readonly from: number;
  readonly length: number;
}

/** Bytes of one state of the file; the caller closes the reader. */
export interface Reading {
  readonly reader: ContentReader;
  readonly length: number;
}

export function readFile(runtime: Runtime, wish: FileReadRequest): Promise<FileResult<Reading>> {
  const { place, handle, from, length } = wish;
  return readSnapshot(runtime, async (work, view) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    if (place.snapshot === undefined) {
      const state = await work.locksOf(found.share.id, found.node.id);
      const stretch = { offset: BigInt(from), length: BigInt(length) };
      if (!holds(state, handle)) return refuse("file-closed");
      if (isRangeLocked(state, stretch, { open: handle, writes: false })) {
        return refuse("lock-conflict");
      }
    }
    const content = found.node.content ?? emptyContent;
    if (from >= content.length && length > 0) return refuse("end-of-file");
    const reader = runtime.content.open(view, content);
    return done({
      reader,
      length: Math.min(length, content.length - Math.min(from, content.length)),
    });
  });
}

/** A handle that was closed by force is in no list any more. */
export function holds({ opens }: LockState, handle: bigint): boolean {
  return opens.some(({ id }) => id === handle);
}
