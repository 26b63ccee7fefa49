import { ByteReader } from "../../encoding/byte-reader.ts";
import { once } from "../../process/memo.ts";
import type { Slice, SliceCipher, SliceSource } from "../content-ref.ts";
import type { Child, Node } from "./node.ts";
import { endOf } from "./slices.ts";

const sevenBits = 0x80;
/** Maximum length of an encoded safe integer. */
const varintBytesMax = 8;

/** Appends numbers and bytes to a growing buffer that is reused for the next value. */
class ByteWriter {
  #bytes = new Uint8Array(8192);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  start(): void {
    this.#length = 0;
  }

  /** Returns a copy of the bytes that were written since `start`. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  /** Writes 7 bits per byte, lowest first; the high bit is set if more bytes follow. */
  varint(value: number): void {
    this.#room(varintBytesMax);
    let rest = value;
    while (rest >= sevenBits) {
      this.#bytes[this.#length++] = (rest % sevenBits) | sevenBits;
      rest = Math.floor(rest / sevenBits);
    }
    this.#bytes[this.#length++] = rest;
  }

  uint64(value: bigint): void {
    this.#room(8);
    this.#view.setBigUint64(this.#length, value);
    this.#length += 8;
  }

  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  #room(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

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

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const reusedWriter = once(() => new ByteWriter());

export function encodeNode(node: Node): Uint8Array {
  const writer = reusedWriter();
  writer.start();
  writer.byte(nodeVersion);
  if (node.kind === "leaf") writeLeaf(writer, node.slices);
  else writeInner(writer, node.children);
  return writer.finish();
}

export function decodeNode(bytes: Uint8Array): Node {
  const reader = new ByteReader(bytes);
  const version = reader.uint8();
  if (version !== nodeVersion) throw new Error(`content node has unknown version ${version}`);
  return reader.uint8() === kindLeaf
    ? { kind: "leaf", slices: readLeaf(reader) }
    : { kind: "inner", children: readInner(reader) };
}

function writeLeaf(writer: ByteWriter, slices: readonly Slice[]): void {
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
    writeSource(writer, slice, extents);
    end = endOf(slice);
  }
}

function writeSource(
  writer: ByteWriter,
  { source, block }: Slice,
  extents: ReadonlyMap<bigint, number>,
): void {
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
  const count = reader.varint(varintBytesMax);
  const extents = Array.from({ length: reader.varint(varintBytesMax) }, () =>
    reader.bigEndianUint64(),
  );
  const slices: Slice[] = [];
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const at = end + reader.varint(varintBytesMax);
    const length = reader.varint(varintBytesMax);
    const flags = reader.uint8();
    const plain = readSource(reader, { flags, length, extents });
    const source = (flags & flagCipher) === 0 ? plain : { ...plain, cipher: readCipher(reader) };
    const slice = { at, length, source };
    const named = (flags & flagBlock) !== 0;
    slices.push(
      named
        ? { ...slice, block: decoder.decode(reader.copy(reader.varint(varintBytesMax))) }
        : slice,
    );
    end = at + length;
  }
  return slices;
}

function readCipher(reader: ByteReader): SliceCipher {
  return { nonce: reader.bigEndianUint64(), at: reader.varint(varintBytesMax) };
}

function readSource(
  reader: ByteReader,
  { flags, length, extents }: { flags: number; length: number; extents: readonly bigint[] },
): SliceSource {
  if ((flags & flagInline) !== 0) return { bytes: reader.copy(length) };
  const extent = extents[reader.varint(varintBytesMax)];
  if (extent === undefined)
    throw new Error("content node refers to an extent that it does not list");
  const offset = reader.varint(varintBytesMax);
  return (flags & flagChecksum) === 0
    ? { extent, offset }
    : { extent, offset, crc64: reader.bigEndianUint64() };
}

function writeInner(writer: ByteWriter, children: readonly Child[]): void {
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
  return Array.from({ length: reader.varint(varintBytesMax) }, () => {
    first += reader.varint(varintBytesMax);
    return { first, id: reader.bigEndianUint64() };
  });
}
