import type { LoopShare } from "../base/loop-share.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { Span } from "../base/span.ts";
import type { ContentPlan, ContentRef, ReceivedBody, Slice } from "./content-ref.ts";
import type { ScopeKeys } from "../store/encryption/scope-keys.ts";
import type { Key, Transaction, View } from "../store/store.ts";

/** The interface of content storage: the bytes of blobs and files, apart from their records. All
 *  services use it through `operation/`; `open-content.ts` implements it with extents in a folder,
 *  in memory or in S3. */

export interface ReceiveOptions {
  /** Declared length of the body, if any; its bytes are then stored contiguously, in few slices. */
  readonly length?: number | undefined;
  /** Limit of the operation; longer bodies fail with `BodyTooLarge`, and nothing is stored. */
  readonly lengthMax: number;
  /** Bodies up to this length stay in memory and are stored in the record. */
  readonly inlineBytesMax: number;
  readonly md5: boolean;
  readonly crc64: boolean;
  /** Encrypts the stored bytes; undefined: no key besides that of the whole storage. `md5` and
   *  `crc64` are those of the plain bytes. */
  readonly encryption?: BodyEncryption | undefined;
  /** The span of a traced request; undefined without tracing. */
  readonly span?: Span | undefined;
}

/** Encryption with a key that the client provides, or with that of an encryption scope. */
export interface BodyEncryption {
  /** The key that encrypts the body; never stored in plain. */
  readonly key: Uint8Array;
  /** Must differ for each body with this key: equal ones would reveal how two bodies differ. */
  readonly nonce: bigint;
  /** Names the encryption scope that has this key, for readers; undefined: a client's key. */
  readonly scope?: string | undefined;
}

/** Bytes in memory as a body, for content that the server writes itself. */
export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

export interface ContentStore {
  /** Limits the work per iteration of the event loop, so that long tasks do not delay other
   *  requests; operations that read much content use it as well. */
  readonly loop: LoopShare;
  /** The keys of encryption scopes; undefined if the storage is not encrypted. */
  readonly scopeKeys?: ScopeKeys | undefined;
  /** Writes a body to extents while it arrives, and resolves when its bytes are durable. A body of
   *  up to `inlineBytesMax` stays in memory instead: the transaction stores it in the record.
   *  Rejects and frees the space if the body ends early, is too long or cannot be read. */
  receive(body: Body, options: ReceiveOptions): Promise<ReceivedBody>;
  /** Ends the use of a received body by its request: frees the space if no record refers to it.
   *  Must be called once per received body after its transaction has ended, even if that committed.
   *  Until then the extent cannot be sealed. */
  discard(received: ReceivedBody): void;
  /** Makes `plan` the content of the record at `owner`, inside its transaction: releases the
   *  references of `before` that `plan` does not use, and adds those that it needs. `undefined` as
   *  plan means that the record is deleted. */
  applyPlan(
    tx: Transaction,
    owner: Key,
    before: ContentRef | undefined,
    plan: ContentPlan | undefined,
  ): Awaitable<ContentRef | undefined>;
  /** The slices of content that overlap `[from, from + length)`, in order, in arrays of bounded
   *  length: for lists of blocks and page ranges. */
  slices(
    view: View,
    ref: ContentRef,
    from: number,
    length: number,
  ): AsyncIterable<readonly Slice[]>;
  /** Opens content inside a view that contains `ref`. The content stays readable until `close`,
   *  even if it is overwritten, deleted or compacted. `key` decrypts slices that are encrypted with
   *  a client's key; `span` is that of a traced request. */
  open(view: View, ref: ContentRef, key?: Uint8Array, span?: Span): ContentReader;
  /** Keeps all content of the view's state readable until the returned function is called, so that
   *  an export can `open` content however old its view becomes. */
  pin(view: View): () => void;
  /** Runs one round of garbage collection and compaction: removes unreachable trees and extents,
   *  compacts extents of which less than half is live. Returns whether there is more to do, or in
   *  how many milliseconds. */
  reclaim(): Promise<boolean | number>;
  close(): Promise<void>;
}

/** A content store that does the same as `content`, except for the given methods: for tracing and
 *  injected faults. */
export function contentWith(content: ContentStore, own: Partial<ContentStore>): ContentStore {
  return {
    loop: content.loop,
    scopeKeys: content.scopeKeys,
    receive: content.receive.bind(content),
    discard: content.discard.bind(content),
    applyPlan: content.applyPlan.bind(content),
    slices: content.slices.bind(content),
    open: content.open.bind(content),
    pin: content.pin.bind(content),
    reclaim: content.reclaim.bind(content),
    close: content.close.bind(content),
    ...own,
  };
}

/** Reads the content of one record as it was when it was opened, until `close`. */
export interface ContentReader {
  readonly length: number;
  /** Reads chunks of at most `readChunkBytes`, holes as zeros. Buffers are pooled: a chunk is valid
   *  until the next one is requested. */
  read(from: number, length: number): AsyncIterable<Uint8Array>;
  /** Rejects if the first bytes of a range cannot be read now. Called before the response begins,
   *  while it can still be an error. Absent for local storage. */
  reach?(from: number, length: number): Promise<void>;
  close(): void;
}

/** The body is longer than the operation permits (`lengthMax`); the client gets 413. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

export interface Body extends AsyncIterable<Uint8Array> {
  /** Reads a whole small body with a declared length, for which an asynchronous iterator would cost
   *  more than the bytes. Returns fewer bytes if the body is shorter. Absent if the source cannot
   *  do this. */
  readonly whole?: (length: number) => Promise<Uint8Array>;
  /** Frees the memory of a chunk that is not read again, earlier than a garbage collection would.
   *  Absent if chunks are parts of other memory. */
  readonly discard?: (chunk: Uint8Array) => void;
}
