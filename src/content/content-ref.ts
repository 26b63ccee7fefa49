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

/** A whole body of up to this many bytes is stored in its record: then one flush makes it durable
 *  instead of two, that of the extent and that of the store. Longer content becomes inline again if
 *  it is cut to this length. */
export const inlineWholeBytesMax = 4096;
/** Limit of a part (block, append, page or range) that is stored in the record. It is smaller than
 *  that of whole contents, because content may have many parts. */
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

/** Stored bytes without their position in the content, which follows from the lengths of those
 *  before. */
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

/** A received body, or a range of existing content (a committed block, for example). */
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

/** The plan that makes a body the whole content. */
export function whole(received: ReceivedBody): ContentPlan {
  return compose([asPart(received)]);
}

/** Takes the content of another record, without copying bytes: for snapshots, versions, copies. */
export function share(ref: ContentRef): ContentPlan {
  return { plan: "share", ref };
}

/** Makes the parts, one after the other, the whole content: Put Block List. */
export function compose(parts: readonly ContentPart[]): ContentPlan {
  return { plan: "compose", parts };
}

/** Changes ranges of existing content, in the given order. */
export function edit(base: ContentRef, ...edits: readonly ContentEdit[]): ContentPlan {
  return { plan: "edit", base, edits };
}

/** Writes a body at an offset; beyond the end it extends the content. */
export function write(base: ContentRef, at: number, received: ReceivedBody): ContentPlan {
  return edit(base, { edit: "write", at, part: asPart(received) });
}

/** The plan that adds a body at the end of the content. */
export function append(base: ContentRef, received: ReceivedBody, block?: string): ContentPlan {
  return edit(base, { edit: "write", at: base.length, part: asPart(received, block) });
}

export function clear(base: ContentRef, range: { at: number; length: number }): ContentPlan {
  return edit(base, { edit: "clear", ...range });
}

export function resize(base: ContentRef, length: number): ContentPlan {
  return edit(base, { edit: "resize", length });
}

/** Content of a given length without data, which reads as zeros: a new page blob or file. */
export function empty(length: number): ContentPlan {
  return edit(noSlices, { edit: "resize", length });
}

const noSlices: ContentRef = { kind: "slices", length: 0, slices: [] };

/** Content of a given length that starts with a body and reads as zeros after it. */
export function startingWith(received: ReceivedBody, length: number): ContentPlan {
  if (received.length === 0) return empty(length);
  const start = { edit: "write" as const, at: 0, part: asPart(received) };
  return edit(noSlices, start, { edit: "resize", length });
}

/** A received body as part of new content; `block` is the id of a committed block. */
export function asPart(received: ReceivedBody, block?: string): ContentPart {
  return block === undefined ? { pieces: received.pieces } : { pieces: received.pieces, block };
}

/** The length of the content that a plan makes. */
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

/** The length of content after one edit. */
export function editedLength(length: number, change: ContentEdit): number {
  if (change.edit === "resize") return change.length;
  return change.edit === "clear" ? length : Math.max(length, change.at + partLength(change.part));
}

export function partLength(part: ContentPart): number {
  let length = 0;
  for (const piece of part.pieces) length += piece.length;
  return length;
}
