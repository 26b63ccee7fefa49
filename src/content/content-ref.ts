/**
 * How a record refers to bytes. Offsets that no slice covers read as zeros (sparse page blobs and
 * files); block and append blobs have no gaps.
 *
 * Small contents are `inline`; then `slices` in the record itself; beyond `slicesInRecordMax` a
 * `tree` of nodes in the store, which snapshots and copies share by reference.
 */
export type ContentRef =
  | { readonly kind: "inline"; readonly length: number; readonly bytes: Uint8Array }
  | { readonly kind: "slices"; readonly length: number; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly length: number; readonly root: bigint };

/** `length` bytes at logical offset `at`, found at `offset` of `extent`, or held right here. */
export interface Slice {
  readonly at: number;
  readonly length: number;
  readonly source: SliceSource;
  /** The id of the block that starts here; its further slices carry none. */
  readonly block?: string;
}

export type SliceSource =
  | {
      readonly extent: bigint;
      readonly offset: number;
      readonly crc64?: bigint;
      readonly cipher?: SliceCipher;
    }
  | { readonly bytes: Uint8Array; readonly cipher?: SliceCipher };

/** The bytes are encrypted with a key that is not kept here: AES-256 in counter mode, whose stream
 *  begins with `nonce`; the slice starts `at` bytes into it. */
export interface SliceCipher {
  readonly nonce: bigint;
  readonly at: number;
}

/** A body that was received: its bytes are on disk (synced) or small and in memory, not yet owned
 *  by any record. */
export interface Received {
  readonly length: number;
  readonly md5?: Uint8Array | undefined;
  readonly crc64?: Uint8Array | undefined;
  readonly pieces: readonly SliceSourceOfLength[];
}

export interface SliceSourceOfLength {
  readonly length: number;
  readonly source: SliceSource;
}

/**
 * What a decision wants a record's content to become. Plans are pure values; the execution layer
 * settles them inside the transaction (`content/`), which counts references and live bytes.
 */
export type ContentPlan =
  /** The very bytes another record (or this one) refers to: snapshots, versions, copies. */
  | { readonly plan: "share"; readonly ref: ContentRef }
  /** New content from start to end: Put Blob, Put Block List. */
  | { readonly plan: "compose"; readonly parts: readonly ContentPart[] }
  /** Changes on top of existing content, in order: pages, ranges, appends, resize. */
  | { readonly plan: "edit"; readonly base: ContentRef; readonly edits: readonly ContentEdit[] };

/** A received body, or a stretch of existing content such as an already committed block. */
export interface ContentPart {
  readonly pieces: readonly SliceSourceOfLength[];
  readonly block?: string;
}

export type ContentEdit =
  | { readonly edit: "write"; readonly at: number; readonly part: ContentPart }
  | { readonly edit: "clear"; readonly at: number; readonly length: number }
  | { readonly edit: "resize"; readonly length: number };

export const emptyContent: ContentRef = { kind: "inline", length: 0, bytes: new Uint8Array(0) };
