import type { Slice, SliceCipher, SliceSource } from "./content-ref.ts";
import { ByteReader, ByteWriter } from "./byte-writer.ts";
import type { Child, Node } from "./node.ts";
import { endOf } from "./slices.ts";

/**
 * Encoding of a content node: version, kind, count, then the entries with offsets as differences.
 *
 * Leaf: the number of extents and their ids; per slice the gap before it, its length, flags, its
 * bytes or (extent index, offset, checksum), the cipher's nonce and offset, and the block id.
 *
 * Inner node: per child the difference of its offset and its id.
 */
const nodeVersion = 1;
const kindLeaf = 0;
const kindInner = 1;
const flagInline = 1;
const flagChecksum = 2;
const flagBlock = 4;
const flagCipher = 8;

const writer = new ByteWriter();
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeNode(node: Node): Uint8Array {
  writer.start();
  writer.byte(nodeVersion);
  if (node.kind === "leaf") writeLeaf(node.slices);
  else writeInner(node.children);
  return writer.finish();
}

export function decodeNode(bytes: Uint8Array): Node {
  const reader = new ByteReader(bytes);
  const version = reader.byte();
  if (version !== nodeVersion) throw new Error(`content node has unknown version ${version}`);
  return reader.byte() === kindLeaf
    ? { kind: "leaf", slices: readLeaf(reader) }
    : { kind: "inner", children: readInner(reader) };
}

function writeLeaf(slices: readonly Slice[]): void {
  const extents = new Map<bigint, number>();
  for (const { source } of slices) {
    if ("extent" in source && !extents.has(source.extent)) extents.set(source.extent, extents.size);
  }
  writer.byte(kindLeaf);
  writer.varint(slices.length);
  writer.varint(extents.size);
  for (const extent of extents.keys()) writer.uint64(extent);
  let end = 0;
  for (const slice of slices) {
    writer.varint(slice.at - end);
    writer.varint(slice.length);
    writeSource(slice, extents);
    end = endOf(slice);
  }
}

function writeSource({ source, block }: Slice, extents: ReadonlyMap<bigint, number>): void {
  const { cipher } = source;
  const marks = (block === undefined ? 0 : flagBlock) | (cipher === undefined ? 0 : flagCipher);
  if ("bytes" in source) {
    writer.byte(flagInline | marks);
    writer.bytes(source.bytes);
  } else {
    writer.byte((source.crc64 === undefined ? 0 : flagChecksum) | marks);
    writer.varint(extents.get(source.extent) as number);
    writer.varint(source.offset);
    if (source.crc64 !== undefined) writer.uint64(source.crc64);
  }
  if (cipher !== undefined) {
    writer.uint64(cipher.nonce);
    writer.varint(cipher.at);
  }
  if (block === undefined) return;
  const name = encoder.encode(block);
  writer.varint(name.length);
  writer.bytes(name);
}

function readLeaf(reader: ByteReader): Slice[] {
  const count = reader.varint();
  const extents = Array.from({ length: reader.varint() }, () => reader.uint64());
  const slices: Slice[] = [];
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const at = end + reader.varint();
    const length = reader.varint();
    const flags = reader.byte();
    const plain = readSource(reader, { flags, length, extents });
    const source = (flags & flagCipher) === 0 ? plain : { ...plain, cipher: readCipher(reader) };
    const slice = { at, length, source };
    const named = (flags & flagBlock) !== 0;
    slices.push(named ? { ...slice, block: decoder.decode(reader.bytes(reader.varint())) } : slice);
    end = at + length;
  }
  return slices;
}

function readCipher(reader: ByteReader): SliceCipher {
  return { nonce: reader.uint64(), at: reader.varint() };
}

function readSource(
  reader: ByteReader,
  { flags, length, extents }: { flags: number; length: number; extents: readonly bigint[] },
): SliceSource {
  if ((flags & flagInline) !== 0) return { bytes: reader.bytes(length) };
  const extent = extents[reader.varint()];
  if (extent === undefined)
    throw new Error("content node refers to an extent that it does not list");
  const offset = reader.varint();
  return (flags & flagChecksum) === 0
    ? { extent, offset }
    : { extent, offset, crc64: reader.uint64() };
}

function writeInner(children: readonly Child[]): void {
  writer.byte(kindInner);
  writer.varint(children.length);
  let previous = 0;
  for (const { first, id } of children) {
    writer.varint(first - previous);
    writer.uint64(id);
    previous = first;
  }
}

function readInner(reader: ByteReader): Child[] {
  let first = 0;
  return Array.from({ length: reader.varint() }, () => {
    first += reader.varint();
    return { first, id: reader.uint64() };
  });
}
