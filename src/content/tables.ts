import { createHash } from "node:crypto";
import { decodeKey, encodeTaggedKey, prefixBounds, type KeyBounds } from "../encoding/keys.ts";
import type { Key } from "../store/store.ts";
import { recordCodec } from "../encoding/table.ts";

/** The tables of content in the key space: keys, records and their codecs. `content/` reads and
 *  writes them; checks, copies and restores of whole stores use the ranges and tags below. Tags are
 *  never reused. */
const tagNode = 0x10;
const tagCount = 0x11;
/** Tag (first byte of the keys) of an extent's two entries: record, and counter of live bytes. */
export const extentsTag = 0x12;
const tagOwner = 0x13;
const tagGarbage = 0x14;
/** Tag of the entries that identify this store, and of the next free id. A restore leaves them out,
 *  because no id may be used twice. */
export const identityTag = 0x15;

const partRecord = 0;
const partLive = 1;
const ownerIsRecord = 0;
const ownerIsNode = 1;
/** Length of the digests of record keys in the owner index: a truncated SHA-256, long enough to
 *  exclude collisions. */
const ownerDigestBytes = 16;

/** The record of an extent: the process that writes it, and its final length; without `sealedBytes`
 *  the process still appends to it. */
export interface ExtentRecord {
  readonly writer: string;
  readonly sealedBytes?: number;
}

export const extentCodec = recordCodec<ExtentRecord>({ version: 1 });

/** A garbage entry: what has become unreachable in the newest state, and is deleted once no older
 *  state that refers to it is read any more. */
export interface GarbageRecord {
  /** Content nodes that an edit has replaced; their children belong to the new nodes, so only the
   *  nodes themselves are deleted. */
  readonly nodes: readonly bigint[];
  /** Content nodes without references: deleted with all below them that has no other reference. */
  readonly trees: readonly bigint[];
  /** Extents whose files are to be removed. */
  readonly extents: readonly bigint[];
  /** Extents to be cut to their first `bytes`, on a full disk. */
  readonly cuts?: readonly { readonly extent: bigint; readonly bytes: number }[];
  /** Whether the restore of a saved state wrote the entry: the next restore then keeps it. */
  readonly isFromRestore?: boolean;
}

export const garbageCodec = recordCodec<GarbageRecord>({ version: 1 });
export const identityCodec = recordCodec<{ readonly next: number }>({ version: 1 });

export function nodeKey(id: bigint): Key {
  return encodeTaggedKey(tagNode, [id]);
}

/** Key of the reference count of a content node. Only nodes that several records or parents share
 *  have one; absent means 1. */
export function countKey(node: bigint): Key {
  return encodeTaggedKey(tagCount, [node]);
}

export const countCodec = recordCodec<{ readonly references: number }>({ version: 1 });

export function extentKey(extent: bigint): Key {
  return encodeTaggedKey(extentsTag, [extent, partRecord]);
}

/** Key of the counter of an extent's live bytes: those that records and leaves refer to, counted
 *  once per reference. */
export function liveKey(extent: bigint): Key {
  return encodeTaggedKey(extentsTag, [extent, partLive]);
}

/** The range of the records and counters of all extents with a greater id. */
export function extentsAfter(extent: bigint): KeyBounds {
  const { end } = prefixBounds(encodeTaggedKey(extentsTag, []));
  return { start: encodeTaggedKey(extentsTag, [extent, partLive + 1]), end };
}

export function parseExtentKey(key: Key): { extent: bigint; isRecord: boolean } {
  const [extent, part] = decodeKey(key, 1);
  return { extent: extent as bigint, isRecord: part === partRecord };
}

/** Key of the entry of the owner index that names a record with bytes in an extent, for compaction.
 *  It has a digest, because the record's key, which is the value, may have the maximum length. */
export function recordOwnerKey(extent: bigint, digest: Uint8Array): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsRecord, digest]);
}

/** Shortens the key of a record for `recordOwnerKey`. */
export function ownerDigest(owner: Key): Uint8Array {
  return createHash("sha256").update(owner).digest().subarray(0, ownerDigestBytes);
}

/** Key of the entry of the owner index that names a leaf (content node) with bytes in an extent. */
export function nodeOwnerKey(extent: bigint, node: bigint): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsNode, node]);
}

/** The range of the owner index that names all records and leaves with bytes in an extent. */
export function ownersOf(extent: bigint): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagOwner, [extent]));
}

/** The leaf that a key of the owner index names; `undefined`: the value is a record's key. */
export function parseOwnerKey(key: Key): bigint | undefined {
  const [, kind, id] = decodeKey(key, 1);
  return kind === ownerIsNode ? (id as bigint) : undefined;
}

/** Key of a garbage entry. `sequence` orders the entries approximately by creation, so that old
 *  ones are deleted first. */
export function garbageKey(sequence: number, id: bigint): Key {
  return encodeTaggedKey(tagGarbage, [sequence, id]);
}

export function allGarbage(): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagGarbage, []));
}

export function identityKey(): Key {
  return encodeTaggedKey(identityTag, []);
}

/** The ranges of whole tables, for the audit, which compares each with the others. */
export const wholeTables = {
  nodes: prefixBounds(Uint8Array.of(tagNode)),
  counts: prefixBounds(Uint8Array.of(tagCount)),
  extents: prefixBounds(Uint8Array.of(extentsTag)),
  owners: prefixBounds(Uint8Array.of(tagOwner)),
} as const;

/** All tags (first bytes of keys) of content tables, for `etagere check`. */
export const contentTags: readonly number[] = [
  tagNode,
  tagCount,
  extentsTag,
  tagOwner,
  tagGarbage,
  identityTag,
];

/** The first part of a key: the id of a node, also in the key of its count, or the extent in a key
 *  of the owner index. */
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

/** Key of a marker that exists while another store is copied into this one: a server must not open
 *  an incomplete copy. */
export function copyMarkKey(): Key {
  return encodeTaggedKey(identityTag, ["copy"]);
}
