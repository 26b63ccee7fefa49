/**
 * A record's reference to its bytes. Offsets that no slice covers read as zeros (sparse page blobs
 * and files); block and append blobs have no gaps.
 *
 * Small contents are `inline`; larger ones are `slices` in the record; beyond `slicesInRecordMax`
 * they are a `tree` of content nodes in the store, which snapshots and copies share by reference.
 */
export type ContentRef =
  | { readonly kind: "inline"; readonly length: number; readonly bytes: Uint8Array }
  | { readonly kind: "slices"; readonly length: number; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly length: number; readonly root: bigint };

/** A whole body of up to this many bytes is stored in its record: one flush instead of two. Longer
 *  content becomes inline again if it is cut to this length. */
export const inlineWholeBytesMax = 4096;
/** The same for blocks, appends, pages and ranges: smaller, because content may have many. */
export const inlinePartBytesMax = 256;

/** `length` bytes at logical offset `at`, stored at `offset` of `extent` or inline. */
export interface Slice {
  readonly at: number;
  readonly length: number;
  readonly source: SliceSource;
  /** Id of the block that starts with this slice; absent in the further slices of a block. */
  readonly block?: string;
}

export type SliceSource =
  | {
      readonly extent: bigint;
      readonly offset: number;
      readonly crc64?: bigint;
      readonly cipher?: SliceCipher;
    }
  | BytesSource;

export interface BytesSource {
  readonly bytes: Uint8Array;
  readonly cipher?: SliceCipher;
}

/** Set if the bytes are encrypted, with a key that is not stored: AES-256 in counter mode with this
 *  nonce. The slice starts `at` bytes into the cipher stream. */
export interface SliceCipher {
  readonly nonce: bigint;
  readonly at: number;
}

/** A received body: flushed to extents, or in memory if it is small. No record refers to it yet. */
export interface ReceivedBody {
  readonly length: number;
  readonly md5?: Uint8Array | undefined;
  readonly crc64?: Uint8Array | undefined;
  readonly pieces: readonly SliceSourceOfLength[];
}

/** Stored bytes without their position in the content, which follows from the lengths of those
 *  before. */
export interface SliceSourceOfLength {
  readonly length: number;
  readonly source: SliceSource;
}

/** The new content of a record, as a pure value of a decision. The execution layer applies it
 *  inside the transaction and updates reference counts and live bytes. */
export type ContentPlan =
  /** The bytes that `ref`, of this or another record, refers to: for blob snapshots, versions and
   *  copies. */
  | { readonly plan: "share"; readonly ref: ContentRef }
  /** Completely new content: Put Blob, Put Block List. */
  | { readonly plan: "compose"; readonly parts: readonly ContentPart[] }
  /** Edits of existing content, in order: pages, ranges, appends, resize. */
  | { readonly plan: "edit"; readonly base: ContentRef; readonly edits: readonly ContentEdit[] };

/** A received body, or a range of existing content such as a committed block. */
export interface ContentPart {
  readonly pieces: readonly SliceSourceOfLength[];
  readonly block?: string;
}

/** A change of a range of existing content. */
export type ContentEdit =
  | { readonly edit: "write"; readonly at: number; readonly part: ContentPart }
  | { readonly edit: "clear"; readonly at: number; readonly length: number }
  | { readonly edit: "resize"; readonly length: number };

export const emptyContent: ContentRef = { kind: "inline", length: 0, bytes: new Uint8Array(0) };
