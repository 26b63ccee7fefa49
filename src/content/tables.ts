import { createHash } from "node:crypto";
import { decodeKey } from "../encoding/key-decoding.ts";
import { encodeTaggedKey, prefixBounds, type KeyBounds } from "../encoding/keys.ts";
import { recordCodec } from "../encoding/record.ts";
import type { Key } from "../store/store.ts";

/** What contents keep in the key space. A tag is never used for anything else. */
const tagNode = 0x10;
const tagCount = 0x11;
const tagExtent = 0x12;
const tagOwner = 0x13;
const tagGarbage = 0x14;
const tagIdentity = 0x15;

const partRecord = 0;
const partLive = 1;
const ownerIsRecord = 0;
const ownerIsNode = 1;
/** Enough of a SHA-256 that two record keys never share it. */
const ownerDigestBytes = 16;

/** One file of bytes. Without `sealedBytes` its writer still appends. */
export interface ExtentRecord {
  readonly writer: string;
  readonly sealedBytes?: number;
}

export const extentCodec = recordCodec<ExtentRecord>({ version: 1 });

/** What waits until no reader can see it. */
export interface GarbageRecord {
  /** Nodes whose children went to a successor: they alone are deleted. */
  readonly nodes: readonly bigint[];
  /** References to nodes that nobody else will give up: taken back with all that hangs below. */
  readonly trees: readonly bigint[];
  /** Extents whose files may go. */
  readonly extents: readonly bigint[];
}

export const garbageCodec = recordCodec<GarbageRecord>({ version: 1 });
export const identityCodec = recordCodec<{ readonly next: number }>({ version: 1 });

export function nodeKey(id: bigint): Key {
  return encodeTaggedKey(tagNode, [id]);
}

/** Absent means one: only nodes that are shared have a count. */
export function countKey(node: bigint): Key {
  return encodeTaggedKey(tagCount, [node]);
}

export const countCodec = recordCodec<{ readonly references: number }>({ version: 1 });

export function extentKey(extent: bigint): Key {
  return encodeTaggedKey(tagExtent, [extent, partRecord]);
}

/** A counter: bytes of the extent that records and leaves refer to, each reference counted. */
export function liveKey(extent: bigint): Key {
  return encodeTaggedKey(tagExtent, [extent, partLive]);
}

export function extentsAfter(extent: bigint): KeyBounds {
  const { end } = prefixBounds(encodeTaggedKey(tagExtent, []));
  return { start: encodeTaggedKey(tagExtent, [extent, partLive + 1]), end };
}

export function parseExtentKey(key: Key): { extent: bigint; isRecord: boolean } {
  const [extent, part] = decodeKey(key, 1);
  return { extent: extent as bigint, isRecord: part === partRecord };
}

/** A record's key may be as long as any, so the index holds its digest, and the key as value. */
export function recordOwnerKey(extent: bigint, digest: Uint8Array): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsRecord, digest]);
}

export function ownerDigest(owner: Key): Uint8Array {
  return createHash("sha256").update(owner).digest().subarray(0, ownerDigestBytes);
}

export function nodeOwnerKey(extent: bigint, node: bigint): Key {
  return encodeTaggedKey(tagOwner, [extent, ownerIsNode, node]);
}

export function ownersOf(extent: bigint): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagOwner, [extent]));
}

/** The owning node, or undefined where the value is the owning record's key. */
export function parseOwnerKey(key: Key): bigint | undefined {
  const [, kind, id] = decodeKey(key, 1);
  return kind === ownerIsNode ? (id as bigint) : undefined;
}

/** In the order in which it came about, as near as a transaction knows. */
export function garbageKey(sequence: number, id: bigint): Key {
  return encodeTaggedKey(tagGarbage, [sequence, id]);
}

export function allGarbage(): KeyBounds {
  return prefixBounds(encodeTaggedKey(tagGarbage, []));
}

/** The next block of ids that a process may take. */
export function identityKey(): Key {
  return encodeTaggedKey(tagIdentity, []);
}

/** For those who look at everything. */
export const wholeTables = {
  nodes: prefixBounds(Uint8Array.of(tagNode)),
  counts: prefixBounds(Uint8Array.of(tagCount)),
  extents: prefixBounds(Uint8Array.of(tagExtent)),
  owners: prefixBounds(Uint8Array.of(tagOwner)),
} as const;

/** The tags that contents keep for themselves. */
export const contentTags: readonly number[] = [
  tagNode,
  tagCount,
  tagExtent,
  tagOwner,
  tagGarbage,
  tagIdentity,
];

/** The id in the key of a node or its count, or the extent in that of an owner. */
export function leadingId(key: Key): bigint {
  return decodeKey(key, 1)[0] as bigint;
}

/** Names the store to whatever lies outside of it. */
export function storeIdKey(): Key {
  return encodeTaggedKey(tagIdentity, ["store"]);
}

export const storeIdCodec = recordCodec<{ readonly id: string }>({ version: 1 });

/** Stands while a copy of another store is made here. */
export function copyMarkKey(): Key {
  return encodeTaggedKey(tagIdentity, ["copy"]);
}

/** Everything in the key space that belongs to contents: tests check that it empties. */
export function contentBounds(): KeyBounds {
  return { start: Uint8Array.of(tagNode), end: Uint8Array.of(tagIdentity) };
}
