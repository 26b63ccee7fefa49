import { createHash } from "node:crypto";
import { decodeKey, encodeTaggedKey, prefixBounds, type KeyBounds } from "../encoding/keys.ts";
import type { Key } from "../store/store.ts";
import { recordCodec } from "../encoding/table.ts";

/** The tables of content in the key space: keys, records and their codecs. `content/` reads and
 *  writes them; checks, copies and restores of whole stores use the ranges and tags below. Tags are
 *  never reused. */
const tagNode = 0x10;
const tagCount = 0x11;
/** Tag of the records of extents, and of the counters of extents. */
export const extentsTag = 0x12;
const tagOwner = 0x13;
const tagGarbage = 0x14;
/** Tag of ids and marks of the store, which never return to an earlier value. */
export const identityTag = 0x15;

const partRecord = 0;
const partLive = 1;
const ownerIsRecord = 0;
const ownerIsNode = 1;
/** Length of a truncated SHA-256, long enough to exclude collisions of record keys. */
const ownerDigestBytes = 16;

/** An extent. Without `sealedBytes`, the process `writer` still appends to it. */
export interface ExtentRecord {
  readonly writer: string;
  readonly sealedBytes?: number;
}

export const extentCodec = recordCodec<ExtentRecord>({ version: 1 });

/** Garbage: deleted once no view can reach it. */
export interface GarbageRecord {
  /** Nodes that were replaced; their children belong to the successors, so only the nodes are
   *  deleted. */
  readonly nodes: readonly bigint[];
  /** Nodes whose last reference was removed: deleted with their subtrees, as far as these have no
   *  other references. */
  readonly trees: readonly bigint[];
  /** Extents whose files are to be removed. */
  readonly extents: readonly bigint[];
  /** Extents of which only the first `bytes` are kept. */
  readonly cuts?: readonly { readonly extent: bigint; readonly bytes: number }[];
  /** Whether the restore of a saved state has made these nodes unreachable. */
  readonly isFromRestore?: boolean;
}

export const garbageCodec = recordCodec<GarbageRecord>({ version: 1 });
export const identityCodec = recordCodec<{ readonly next: number }>({ version: 1 });

export function nodeKey(id: bigint): Key {
  return encodeTaggedKey(tagNode, [id]);
}

/** Key of a reference count. Only shared nodes have one; absent means 1. */
export function countKey(node: bigint): Key {
  return encodeTaggedKey(tagCount, [node]);
}

export const countCodec = recordCodec<{ readonly references: number }>({ version: 1 });

export function extentKey(extent: bigint): Key {
  return encodeTaggedKey(extentsTag, [extent, partRecord]);
}

/** Key of a counter: live bytes of the extent, counted once per reference by records and leaves. */
export function liveKey(extent: bigint): Key {
  return encodeTaggedKey(extentsTag, [extent, partLive]);
}

/** The range of the records and counters of all extents after one. */
export function extentsAfter(extent: bigint): KeyBounds {
  const { end } = prefixBounds(encodeTaggedKey(extentsTag, []));
  return { start: encodeTaggedKey(extentsTag, [extent, partLive + 1]), end };
}

export function parseExtentKey(key: Key): { extent: bigint; isRecord: boolean } {
  const [extent, part] = decodeKey(key, 1);
  return { extent: extent as bigint, isRecord: part === partRecord };
}

/** Index entry of a record that refers to an extent. It contains a digest of the record's key,
 *  which may have the maximum length, and the key itself as value. */
export function recordOwnerKey(extent: bigint, digest: Uint8Array): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsRecord, digest]);
}

/** Digest of the key of a record, for `recordOwnerKey`. */
export function ownerDigest(owner: Key): Uint8Array {
  return createHash("sha256").update(owner).digest().subarray(0, ownerDigestBytes);
}

/** Index entry of a leaf that refers to an extent. */
export function nodeOwnerKey(extent: bigint, node: bigint): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsNode, node]);
}

/** The range of the index entries of an extent: its records and leaves. */
export function ownersOf(extent: bigint): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagOwner, [extent]));
}

/** The owning node; `undefined` if the value is the key of the owning record. */
export function parseOwnerKey(key: Key): bigint | undefined {
  const [, kind, id] = decodeKey(key, 1);
  return kind === ownerIsNode ? (id as bigint) : undefined;
}

/** Key of a garbage entry; the entries are ordered approximately by creation. */
export function garbageKey(sequence: number, id: bigint): Key {
  return encodeTaggedKey(tagGarbage, [sequence, id]);
}

export function allGarbage(): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagGarbage, []));
}

export function identityKey(): Key {
  return encodeTaggedKey(identityTag, []);
}

/** Ranges of whole tables, for audits and copies. */
export const wholeTables = {
  nodes: prefixBounds(Uint8Array.of(tagNode)),
  counts: prefixBounds(Uint8Array.of(tagCount)),
  extents: prefixBounds(Uint8Array.of(extentsTag)),
  owners: prefixBounds(Uint8Array.of(tagOwner)),
} as const;

/** All tags of content tables. */
export const contentTags: readonly number[] = [
  tagNode,
  tagCount,
  extentsTag,
  tagOwner,
  tagGarbage,
  identityTag,
];

/** The id in the key of a node or count, or the extent in the key of an owner. */
export function leadingId(key: Key): bigint {
  return decodeKey(key, 1)[0] as bigint;
}

/** The tables of content that the restore of a saved state treats differently
 *  (`restore-rules.ts`). */
export function contentTagOf(key: Key): "node" | "extent" | "garbage" | "other" {
  if (key[0] === tagNode) return "node";
  if (key[0] === extentsTag) return "extent";
  return key[0] === tagGarbage ? "garbage" : "other";
}

/** Key of the id of this store. It is also written into the storage of extents, so that two stores
 *  cannot use the same one. */
export function storeIdKey(): Key {
  return encodeTaggedKey(identityTag, ["store"]);
}

export const storeIdCodec = recordCodec<{ readonly id: string }>({ version: 1 });

/** Key of a marker that exists while another store is copied here. */
export function copyMarkKey(): Key {
  return encodeTaggedKey(identityTag, ["copy"]);
}
