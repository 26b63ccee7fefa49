import type { Body } from "./body.ts";
import type { ContentPlan, ContentRef, Received, Slice } from "./content-ref.ts";
import type { Key, Transaction, View } from "../store/store.ts";

export interface ReceiveOptions {
  /** The body's announced length, if any: its bytes then lie together. */
  readonly length?: number | undefined;
  /** More than this ends with `TooLarge`; nothing is kept. */
  readonly lengthMax: number;
  /** At most this stays in memory and goes into the record. */
  readonly inlineBytesMax: number;
  readonly md5: boolean;
  readonly crc64: boolean;
  /** Encrypts what is stored; checksums are those of the plain bytes. */
  readonly encryption?: BodyEncryption | undefined;
}

export interface BodyEncryption {
  /** The client's own key, never kept. */
  readonly key: Uint8Array;
  /** Must not be used twice with one key. */
  readonly nonce: bigint;
}

/** The stored bytes of all services. */
export interface ContentStore {
  /** Streams a body to disk with back-pressure; resolves when its bytes are synced. A body that
   *  breaks off rejects, and its bytes are free again. */
  receive(body: Body, options: ReceiveOptions): Promise<Received>;
  /** The request is over with this body: what no record came to own is free again. Called once for
   *  every body received, after its transaction ended, whether that kept the bytes or not; until
   *  then its extent stays open. */
  discard(received: Received): void;
  /** Makes `plan` the content of the record at `owner`, inside its transaction: releases what
   *  `before` held and `plan` does not use, takes references on what it does. Without a plan the
   *  record is going away. */
  settle(
    tx: Transaction,
    owner: Key,
    before: ContentRef | undefined,
    plan: ContentPlan | undefined,
  ): Promise<ContentRef | undefined>;
  /** The slices that overlap `[from, from + length)`, in order, in bounded arrays. */
  slices(
    view: View,
    ref: ContentRef,
    from: number,
    length: number,
  ): AsyncIterable<readonly Slice[]>;
  /** Called inside a view that sees `ref`: what it shows stays readable until `close`, whatever is
   *  overwritten, deleted or compacted meanwhile. Encrypted slices are read with `key`. */
  open(view: View, ref: ContentRef, key?: Uint8Array): ContentReader;
  /** One round of giving space back: frees trees and extents nothing can see, compacts extents
   *  below half. Returns whether there is more to do. */
  reclaim(): Promise<boolean>;
  close(): Promise<void>;
}

export interface ContentReader {
  readonly length: number;
  /** In chunks of at most `readChunkBytes`, with holes as zeros. Buffers may be pooled: a chunk is
   *  valid until the next one is asked for. */
  read(from: number, length: number): AsyncIterable<Uint8Array>;
  /** Rejects if the first bytes of a range cannot be had now; absent where they always can. */
  reach?(from: number, length: number): Promise<void>;
  close(): void;
}

/** The body was longer than `lengthMax`. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}
