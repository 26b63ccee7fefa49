import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { RecordTooNew } from "../../encoding/record.ts";
import {
  checkedHeaderBytes,
  firstLine,
  firstLinePattern,
  flagDeflated,
  formatVersion,
  frameHeaderBytes,
  frameKinds,
  mapCodec,
  mapLengthBytes,
  payloadBytesMax,
  type Frame,
  type FrameKind,
} from "./archive-format.ts";
import { ArchiveRefused } from "../../host/refused.ts";

const inflate = promisify(inflateRaw);
const kindsByNumber: ReadonlyMap<number, FrameKind> = new Map(
  Object.entries(frameKinds).map(([kind, number]) => [number, kind as FrameKind]),
);

/** Reads and verifies the frames of an archive, up to the last one. Throws `ArchiveRefused` if the
 *  archive is damaged, incomplete or written in a newer format. */
export async function* readFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const source = new ByteSource(bytes);
  try {
    await readFirstLine(source);
    for (let index = 0; ; index += 1) {
      const frame = await readFrame(source, index);
      yield frame;
      if (frame.kind === "end") break;
    }
    if (!(await source.isAtEnd())) throw damaged(source, "there is data after its end");
  } finally {
    await source.close();
  }
}

async function readFirstLine(source: ByteSource): Promise<void> {
  const line = Buffer.from((await source.read(firstLine.length)) ?? []).toString("latin1");
  if (line === firstLine) return;
  const [, given] = firstLinePattern.exec(line) ?? [];
  const isNewer = given !== undefined || line.startsWith("etagere archive ");
  throw new ArchiveRefused([
    isNewer
      ? `the archive has a newer format than ${formatVersion}, the latest that this release reads`
      : "not an archive of etagere export",
  ]);
}

async function readFrame(source: ByteSource, index: number): Promise<Frame> {
  const header = Buffer.from(await required(source, frameHeaderBytes));
  const [storedLength, plainLength] = [header.readUInt32BE(8), header.readUInt32BE(12)];
  if (storedLength > payloadBytesMax || plainLength > payloadBytesMax) {
    throw damaged(source, "a length is beyond the limit");
  }
  const stored = await required(source, storedLength);
  const checksum = crc32(stored, crc32(header.subarray(0, checkedHeaderBytes)));
  if (checksum !== header.readUInt32BE(checkedHeaderBytes)) {
    throw damaged(source, "a checksum does not match");
  }
  if (header.readUInt32BE(4) !== index >>> 0) throw damaged(source, "a part is missing");
  const kind = kindsByNumber.get(header.readUInt8(0));
  if (kind === undefined) {
    throw new ArchiveRefused(["the archive has parts that this release does not know"]);
  }
  const isDeflated = (header.readUInt8(1) & flagDeflated) !== 0;
  const plain = isDeflated ? await inflated(source, stored, plainLength) : stored;
  if (plain.length !== plainLength) throw damaged(source, "a length does not match");
  return { kind, payload: decoded(source, plain) } as Frame;
}

async function required(source: ByteSource, count: number): Promise<Uint8Array> {
  const bytes = await source.read(count);
  if (bytes !== undefined) return bytes;
  throw new ArchiveRefused([
    `the archive is incomplete: it ends after ${source.position} bytes; export it again`,
  ]);
}

async function inflated(
  source: ByteSource,
  stored: Uint8Array,
  plainLength: number,
): Promise<Uint8Array> {
  try {
    return await inflate(stored, { maxOutputLength: Math.max(1, plainLength) });
  } catch (error) {
    throw damaged(source, "compressed data is invalid", error);
  }
}

function decoded(source: ByteSource, plain: Uint8Array): unknown {
  try {
    const view = new DataView(plain.buffer, plain.byteOffset, plain.length);
    const end = mapLengthBytes + view.getUint32(0);
    const map = mapCodec.decode(plain.subarray(mapLengthBytes, end));
    return { ...map, bytes: plain.subarray(end) };
  } catch (error) {
    if (error instanceof RecordTooNew) throw writtenByNewer(error);
    throw damaged(source, "a part cannot be read", error);
  }
}

function damaged(source: ByteSource, what: string, cause?: unknown): ArchiveRefused {
  return new ArchiveRefused(
    [`the archive is damaged before byte ${source.position}: ${what}`],
    cause,
  );
}

export function writtenByNewer(cause: unknown): ArchiveRefused {
  return new ArchiveRefused(
    ["the archive was written by a newer release: load it with that one, or a later one"],
    cause,
  );
}

/** Reads a given number of bytes at a time from a stream of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  /** Bytes read so far. */
  position = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `count` bytes; undefined if the stream ends before. Memory is used only for bytes
   *  that have arrived, whatever `count` is. */
  async read(count: number): Promise<Uint8Array | undefined> {
    if (this.#chunk.length >= count) return this.#take(count);
    const parts: Uint8Array[] = [];
    for (let missing = count; missing > 0;) {
      if (this.#chunk.length === 0 && !(await this.#next())) return undefined;
      const part = this.#take(Math.min(missing, this.#chunk.length));
      missing -= part.length;
      parts.push(part);
    }
    return parts.length === 1 ? parts[0] : Buffer.concat(parts);
  }

  async isAtEnd(): Promise<boolean> {
    return this.#chunk.length === 0 && !(await this.#next());
  }

  /** Ends the stream, whether or not it was read to its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  #take(count: number): Uint8Array {
    const taken = this.#chunk.subarray(0, count);
    this.#chunk = this.#chunk.subarray(count);
    this.position += count;
    return taken;
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      if (value.length === 0) continue;
      this.#chunk = value;
      return true;
    }
  }
}
