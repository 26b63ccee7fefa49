import { ByteReader } from "../../encoding/byte-reader.ts";
import { once } from "../../process/memo.ts";
import type { Slice, SliceCipher, SliceSource } from "../content-ref.ts";
import type { Child, Node } from "./node.ts";
import { endOf } from "./slices.ts";

/** The stored form of content nodes. Written by hand instead of with the codec of records, because
 *  a content of 50,000 blocks has thousands of nodes, and shorter nodes make fewer. */

const sevenBits = 0x80;
/** Maximum length of an encoded safe integer: 53 bits, 7 per byte. */
const varintBytesMax = 8;

/** Appends numbers and bytes to a growing buffer, which the next node reuses. */
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
 * Leaf: the number of extents and their ids; in version 2 the number of encryption scopes and their
 * names; per slice the gap before it, its length, flags, its bytes or (extent index, offset,
 * checksum), the cipher's nonce and offset, the index of its scope, and the block id.
 *
 * Inner node: per child the difference of its offset and its id.
 */
const nodeVersion = 1;
/** Version of leaves with bytes of encryption scopes. Releases without scopes refuse such a node
 *  instead of returning its bytes encrypted. */
const scopedVersion = 2;
const kindLeaf = 0;
const kindInner = 1;
const flagInline = 1;
const flagChecksum = 2;
const flagBlock = 4;
const flagCipher = 8;
const flagScope = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const reusedWriter = once(() => new ByteWriter());

export function encodeNode(node: Node): Uint8Array {
  const writer = reusedWriter();
  writer.start();
  if (node.kind === "leaf") writeLeaf(writer, node.slices);
  else writeInner(writer, node.children);
  return writer.finish();
}

export function decodeNode(bytes: Uint8Array): Node {
  const reader = new ByteReader(bytes);
  const version = reader.uint8();
  const isScoped = version === scopedVersion;
  if (version !== nodeVersion && !isScoped) {
    throw new Error(`content node has unknown version ${version}`);
  }
  return reader.uint8() === kindLeaf
    ? { kind: "leaf", slices: readLeaf(reader, isScoped) }
    : { kind: "inner", children: readInner(reader) };
}

function writeLeaf(writer: ByteWriter, slices: readonly Slice[]): void {
  const extents = new Map<bigint, number>();
  const scopes = new Map<string, number>();
  for (const { source } of slices) {
    if ("extent" in source && !extents.has(source.extent)) extents.set(source.extent, extents.size);
    const scope = source.cipher?.scope;
    if (scope !== undefined && !scopes.has(scope)) scopes.set(scope, scopes.size);
  }
  writer.byte(scopes.size === 0 ? nodeVersion : scopedVersion);
  writer.byte(kindLeaf);
  writer.varint(slices.length);
  writer.varint(extents.size);
  for (const extent of extents.keys()) writer.uint64(extent);
  if (scopes.size > 0) writer.varint(scopes.size);
  for (const scope of scopes.keys()) writeText(writer, scope);
  let end = 0;
  for (const slice of slices) {
    writer.varint(slice.at - end);
    writer.varint(slice.length);
    writeSource(writer, slice, { extents, scopes });
    end = endOf(slice);
  }
}

/** The position of each extent and scope in the lists at the start of a leaf: slices refer to them
 *  by it, which takes fewer bytes. */
interface LeafIndexes {
  readonly extents: ReadonlyMap<bigint, number>;
  readonly scopes: ReadonlyMap<string, number>;
}

function writeSource(
  writer: ByteWriter,
  { source, block }: Slice,
  { extents, scopes }: LeafIndexes,
): void {
  const { cipher } = source;
  const scope = cipher?.scope;
  const marks =
    (block === undefined ? 0 : flagBlock) |
    (cipher === undefined ? 0 : flagCipher) |
    (scope === undefined ? 0 : flagScope);
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
    if (scope !== undefined) writer.varint(scopes.get(scope) as number);
  }
  if (block !== undefined) writeText(writer, block);
}

function writeText(writer: ByteWriter, text: string): void {
  const bytes = encoder.encode(text);
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

function readText(reader: ByteReader): string {
  return decoder.decode(reader.copy(reader.varint(varintBytesMax)));
}

function readLeaf(reader: ByteReader, isScoped: boolean): Slice[] {
  const count = reader.varint(varintBytesMax);
  const extents = Array.from({ length: reader.varint(varintBytesMax) }, () =>
    reader.bigEndianUint64(),
  );
  const scopeCount = isScoped ? reader.varint(varintBytesMax) : 0;
  const scopes = Array.from({ length: scopeCount }, () => readText(reader));
  const slices: Slice[] = [];
  let end = 0;
  for (let index = 0; index < count; index += 1) {
    const at = end + reader.varint(varintBytesMax);
    const length = reader.varint(varintBytesMax);
    const flags = reader.uint8();
    const plain = readSource(reader, { flags, length, extents });
    const isPlain = (flags & flagCipher) === 0;
    const source = isPlain ? plain : { ...plain, cipher: readCipher(reader, flags, scopes) };
    const slice = { at, length, source };
    const named = (flags & flagBlock) !== 0;
    slices.push(named ? { ...slice, block: readText(reader) } : slice);
    end = at + length;
  }
  return slices;
}

function readCipher(reader: ByteReader, flags: number, scopes: readonly string[]): SliceCipher {
  const cipher = { nonce: reader.bigEndianUint64(), at: reader.varint(varintBytesMax) };
  if ((flags & flagScope) === 0) return cipher;
  const scope = scopes[reader.varint(varintBytesMax)];
  if (scope === undefined) throw new Error("content node refers to a scope that it does not list");
  return { ...cipher, scope };
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
  writer.byte(nodeVersion);
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
