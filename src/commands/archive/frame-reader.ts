import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
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
import { encryptedFirstLine } from "./archive-cipher.ts";
import { ByteSource } from "./byte-source.ts";
import { RecordTooNew } from "../../encoding/table.ts";

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
  if (line === encryptedFirstLine.slice(0, firstLine.length)) {
    throw new ArchiveRefused([
      "the archive is encrypted: give its master key with --archiveKey file:…, env:… or command:…",
    ]);
  }
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

/** The refusal of an archive that has no damage, but content that no export writes. */
export function invalid(what: string, cause?: unknown): ArchiveRefused {
  return new ArchiveRefused([`the archive is not valid: ${what}`], cause);
}
