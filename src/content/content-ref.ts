/**
 * What a record stores of its content, and the plans with which decisions of all services change
 * it.
 *
 * A `ContentRef` is a record's reference to its bytes. Offsets that no slice covers read as zeros
 * (sparse page blobs and files); block and append blobs have no gaps.
 *
 * Small contents are `inline`; larger ones are `slices` in the record; beyond `slicesInRecordMax`
 * they are a `tree` of content nodes in the store, which snapshots and copies share by reference.
 */
export type ContentRef =
  | { readonly kind: "inline"; readonly length: number; readonly bytes: Uint8Array }
  | { readonly kind: "slices"; readonly length: number; readonly slices: readonly Slice[] }
  | { readonly kind: "tree"; readonly length: number; readonly root: bigint };

/** A whole body of up to this many bytes is stored in its record: one flush, that of the store,
 *  then makes it durable instead of two. Content that is cut to this length becomes inline
 *  again. */
export const inlineWholeBytesMax = 4096;
/** Limit of a part (block, append, page or range) that is stored in the record. It is smaller than
 *  that of whole contents, because content may have many parts. */
export const inlinePartBytesMax = 256;

/** `length` bytes at offset `at` of the content, stored in an extent (a file that many contents
 *  share) or in the slice itself. */
export interface Slice {
  readonly at: number;
  readonly length: number;
  readonly source: SliceSource;
  /** Id of the block of a block blob that starts with this slice; absent in its further slices and
   *  in all other contents. */
  readonly block?: string;
}

/** Where the bytes of a slice are: at `offset` of an extent, with the checksum that the scrubber
 *  compares, or in the record or content node itself. */
export type SliceSource =
  | {
      readonly extent: bigint;
      readonly offset: number;
      readonly crc64?: bigint;
      readonly cipher?: SliceCipher;
    }
  | BytesSource;

/** Source of a short slice: its bytes are stored in the record or content node itself. */
export interface BytesSource {
  readonly bytes: Uint8Array;
  readonly cipher?: SliceCipher;
}

/** Set if the bytes are encrypted with the key of a client or of an encryption scope, besides any
 *  encryption of the whole storage: AES-256 in counter mode with this nonce. The slice starts `at`
 *  bytes into the cipher stream. */
export interface SliceCipher {
  readonly nonce: bigint;
  readonly at: number;
  /** The encryption scope that the key follows from (`store/encryption/scope-keys.ts`); undefined:
   *  a key that the client sends with each request. */
  readonly scope?: string | undefined;
}

/** A received body: flushed to extents, or in memory if it is small. No record refers to it yet. */
export interface ReceivedBody {
  readonly length: number;
  readonly md5?: Uint8Array | undefined;
  readonly crc64?: Uint8Array | undefined;
  readonly pieces: readonly SliceSourceOfLength[];
}

/** Stored bytes without their offset in the content, the sum of the lengths before them. */
export interface SliceSourceOfLength {
  readonly length: number;
  readonly source: SliceSource;
}

/** The new content of a record, as a plain value, so that decisions stay pure.
 *  `ContentStore.applyPlan` applies it in the transaction of the record and updates reference
 *  counts and live bytes. */
export type ContentPlan =
  /** The bytes that `ref`, of this or another record, refers to: for blob snapshots, versions and
   *  copies. */
  | { readonly plan: "share"; readonly ref: ContentRef }
  /** Completely new content: Put Blob, Put Block List. */
  | { readonly plan: "compose"; readonly parts: readonly ContentPart[] }
  /** Edits of existing content, in order: pages, ranges, appends, resize. */
  | { readonly plan: "edit"; readonly base: ContentRef; readonly edits: readonly ContentEdit[] };

/** A part of new content: a received body, or an existing block that Put Block List keeps. */
export interface ContentPart {
  readonly pieces: readonly SliceSourceOfLength[];
  readonly block?: string;
}

/** One change of existing content; `clear` turns a range into zeros. */
export type ContentEdit =
  | { readonly edit: "write"; readonly at: number; readonly part: ContentPart }
  | { readonly edit: "clear"; readonly at: number; readonly length: number }
  | { readonly edit: "resize"; readonly length: number };

export const emptyContent: ContentRef = { kind: "inline", length: 0, bytes: new Uint8Array(0) };

/** The plan that makes a received body the whole content of a record: Put Blob. */
export function whole(received: ReceivedBody): ContentPlan {
  return compose([asPart(received)]);
}

/** The plan that gives a record the content of another one, without copying bytes: for blob
 *  snapshots, versions, copies. */
export function share(ref: ContentRef): ContentPlan {
  return { plan: "share", ref };
}

/** The plan that makes the parts, one after the other, the whole content: Put Block List. */
export function compose(parts: readonly ContentPart[]): ContentPlan {
  return { plan: "compose", parts };
}

/** The plan that applies edits to existing content, in the given order. */
export function edit(base: ContentRef, ...edits: readonly ContentEdit[]): ContentPlan {
  return { plan: "edit", base, edits };
}

/** The plan that writes a body at an offset, as Put Page and Put Range do; beyond the end it
 *  extends the content. */
export function write(base: ContentRef, at: number, received: ReceivedBody): ContentPlan {
  return edit(base, { edit: "write", at, part: asPart(received) });
}

/** The plan that adds a body at the end: Append Block, whose `block` is its id. */
export function append(base: ContentRef, received: ReceivedBody, block?: string): ContentPlan {
  return edit(base, { edit: "write", at: base.length, part: asPart(received, block) });
}

export function clear(base: ContentRef, range: { at: number; length: number }): ContentPlan {
  return edit(base, { edit: "clear", ...range });
}

export function resize(base: ContentRef, length: number): ContentPlan {
  return edit(base, { edit: "resize", length });
}

/** The plan for content of a given length that reads as zeros: a new page blob or file. */
export function empty(length: number): ContentPlan {
  return edit(noSlices, { edit: "resize", length });
}

const noSlices: ContentRef = { kind: "slices", length: 0, slices: [] };

/** The plan for content of a given length that starts with a body and reads as zeros after it:
 *  Create File with data. */
export function startingWith(received: ReceivedBody, length: number): ContentPlan {
  if (received.length === 0) return empty(length);
  const start = { edit: "write" as const, at: 0, part: asPart(received) };
  return edit(noSlices, start, { edit: "resize", length });
}

/** A received body as part of new content; `block` is the id of a committed block. */
export function asPart(received: ReceivedBody, block?: string): ContentPart {
  return block === undefined ? { pieces: received.pieces } : { pieces: received.pieces, block };
}

/** The length of the content that a plan makes, known before it is applied: for quotas, events. */
export function plannedLength(plan: ContentPlan): number {
  switch (plan.plan) {
    case "share":
      return plan.ref.length;
    case "compose":
      return plan.parts.reduce((sum, part) => sum + partLength(part), 0);
    case "edit":
      return plan.edits.reduce(editedLength, plan.base.length);
    default:
      return plan satisfies never;
  }
}

/** The length that content of `length` bytes has after one edit. */
export function editedLength(length: number, change: ContentEdit): number {
  if (change.edit === "resize") return change.length;
  return change.edit === "clear" ? length : Math.max(length, change.at + partLength(change.part));
}

export function partLength(part: ContentPart): number {
  let length = 0;
  for (const piece of part.pieces) length += piece.length;
  return length;
}
