import type { AccountLoad } from "../../account/load-account.ts";
import type { SubscriptionInput } from "../../account/parse-subscription.ts";
import type { SliceCipher } from "../../content/content-ref.ts";
import type { Progress } from "../progress.ts";
import { recordCodec, RecordTooNew } from "../../encoding/table.ts";
import { promisify } from "node:util";
import { crc32, deflateRaw, deflateRawSync, inflateRaw } from "node:zlib";
import { ArchiveRefused } from "../../host/refused.ts";
import { encryptedFirstLine } from "./archive-cipher.ts";
import { ByteSource } from "./byte-source.ts";

/*
 * An archive is a line of text and a sequence of frames (docs/ARCHIVE.md).
 *
 *     etagere archive 1\n
 *     frame: kind 1 byte, flags 1, zeros 2, index 4, stored length 4, plain length 4, CRC-32 4,
 *            then the stored bytes
 *
 * Numbers are unsigned and big-endian. The checksum covers the first 16 bytes of the frame and its
 * stored bytes. The index counts frames from 0, so that a missing frame is noticed. The payload is
 * the length of a map (4 bytes), the map as MessagePack after a version byte, and `bytes`. These
 * are not part of the map, because the encoder would enlarge its buffer, which all records share.
 *
 * `FrameWriter` writes frames for exports, `readFrames` reads and verifies them for loads.
 */

/** The version of the archive format, in the first line. */
const formatVersion = 1;
export const firstLine = `etagere archive ${formatVersion}\n`;
const firstLinePattern = /^etagere archive (\d{1,9})\n/;
export const frameHeaderBytes = 20;
/** Bytes of the header that the checksum covers. */
const checkedHeaderBytes = 16;
/** Flag of a frame whose payload is compressed with raw Deflate. */
const flagDeflated = 1;
/** Limit of a payload before compression; a frame that claims more is damaged. A writer stays far
 *  below it; a reader never reserves memory for more than has arrived. */
const payloadBytesMax = 64 * 1024 * 1024;

/** The kinds of frames. A number is never reused: later releases load earlier archives. */
export const frameKinds = {
  start: 1,
  account: 2,
  records: 3,
  content: 4,
  moreContent: 5,
  end: 6,
} as const;

type FrameKind = keyof typeof frameKinds;

/** The first frame: what the archive contains. */
export interface StartFrame {
  /** Version of the program that wrote the archive. */
  readonly release: string;
  readonly createdAt: string;
  /** Names of the accounts, in the order of the account frames. */
  readonly accounts: readonly string[];
}

/** An account as the load gets it, with the id that the keys of its containers, queues, tables and
 *  shares begin with. Frames with its records follow. Keys are in it if the export includes them;
 *  of the role assignments those of built-in roles: custom roles and principals belong to a
 *  server. */
export interface AccountFrame extends Omit<AccountLoad, "subscriptions"> {
  /** Event subscriptions by name, in the form of the configuration. Those to webhooks only if the
   *  export includes keys: their URLs and secrets are credentials. */
  readonly subscriptions?: Readonly<Record<string, SubscriptionInput>> | undefined;
}

/** Records of one table without content, or with content that is stored in the record itself.
 *  Others have frames `content`. */
export interface RecordsFrame {
  readonly table: string;
  /** Lengths of key and value of each record. `bytes` has keys and values in the same order. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

/** A part of the content of a blob or file. The bytes of all pieces of a frame follow each other in
 *  the `bytes` of the frame. */
export interface ContentPiece {
  /** Offset in the content. Offsets that no piece covers are a hole, which reads as zeros. */
  readonly at: number;
  readonly length: number;
  /** Id of the block that begins with this piece. */
  readonly block?: string | undefined;
  /** Set if the bytes are encrypted with a key of the client. */
  readonly cipher?: SliceCipher | undefined;
  /** Set for a range that has no bytes, but has some in the base (`ContentFrame.base`). */
  readonly isHole?: true | undefined;
}

/** Further content of the last frame `content`: content of any size needs little memory. */
export interface MoreContentFrame {
  readonly pieces: readonly ContentPiece[];
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** A record with its content. Unless `isLast`, frames `moreContent` follow. */
export interface ContentFrame extends MoreContentFrame {
  readonly table: string;
  readonly key: Uint8Array;
  /** The encoded record, without its content. */
  readonly value: Uint8Array;
  readonly length: number;
  /** An earlier record of the archive with similar content, as a snapshot of a blob has. The
   *  content is that of this base, cut or enlarged to `length`, with the pieces written to it.
   *  Without a base it is empty before. */
  readonly base?: { readonly table: string; readonly key: Uint8Array } | undefined;
}

/** Last frame: without it an archive is incomplete. */
export interface EndFrame {
  readonly records: number;
  /** Bytes in the frames `content` and `moreContent`, before compression. */
  readonly contentBytes: number;
}

interface FramePayloads {
  readonly start: StartFrame;
  readonly account: AccountFrame;
  readonly records: RecordsFrame;
  readonly content: ContentFrame;
  readonly moreContent: MoreContentFrame;
  readonly end: EndFrame;
}

export type Frame = {
  readonly [K in FrameKind]: { readonly kind: K; readonly payload: FramePayloads[K] };
}[FrameKind];

export const mapCodec = recordCodec<object>({ version: 1 });
const mapLengthBytes = 4;

/** Offsets in the header of a frame: of the length of its stored bytes, and before compression. */
const storedLengthOffset = 8;
const plainLengthOffset = 12;

/** Returns a function that gets the bytes of an archive, in chunks of any size, and adds them to
 *  the progress. They are counted as before compression, because the total of an export is known
 *  only before compression. */
export function frameProgress(progress: Progress): (chunk: Uint8Array) => void {
  const header = Buffer.alloc(frameHeaderBytes);
  let headerBytes = 0;
  /** Bytes of the current frame that are still to come before the next header. */
  let left = firstLine.length;
  let plainPerStored = 0;
  return (chunk) => {
    let plain = 0;
    for (let at = 0; at < chunk.length;) {
      if (left > 0) {
        const count = Math.min(left, chunk.length - at);
        plain += count * plainPerStored;
        left -= count;
        at += count;
        continue;
      }
      const part = chunk.subarray(at, at + frameHeaderBytes - headerBytes);
      header.set(part, headerBytes);
      headerBytes += part.length;
      at += part.length;
      if (headerBytes < frameHeaderBytes) break;
      headerBytes = 0;
      left = header.readUInt32BE(storedLengthOffset);
      plainPerStored = left === 0 ? 0 : header.readUInt32BE(plainLengthOffset) / left;
    }
    progress.add({ bytes: plain });
  };
}

const deflate = promisify(deflateRaw);

/** Receives the bytes of an archive, for example to write them to a file; resolves when more bytes
 *  are accepted. */
export type ArchiveSink = (bytes: Uint8Array) => Promise<void> | void;

/** Level of the Deflate compression: the fastest. Higher ones save little space and take several
 *  times as long. */
const level = 1;
/** Most frames that are compressed at the same time. Each is in memory as a whole. */
const pendingFramesMax = 4;
const sampleBytes = 16 * 1024;
/** A frame is stored as it is unless compression saves an eighth. */
const worthwhileShare = 7 / 8;

/** Writes frames in order, while threads compress up to 4 of the following ones. `write` may return
 *  before its frame is sent, and a later call may throw the error of a frame; `finish` sends the
 *  rest. */
export class FrameWriter {
  readonly #sink: ArchiveSink;
  readonly #pending: Promise<Uint8Array>[] = [];
  #index = 0;
  bytesWritten = 0;

  constructor(sink: ArchiveSink) {
    this.#sink = sink;
  }

  async begin(): Promise<void> {
    await this.#send(Buffer.from(firstLine, "latin1"));
  }

  async write<K extends FrameKind>(kind: K, payload: FramePayloads[K]): Promise<void> {
    const frame = encodeFrame(frameKinds[kind], this.#index, payload);
    // A failure is thrown where the frame is sent, not as an unhandled rejection.
    frame.catch(() => undefined);
    this.#index += 1;
    this.#pending.push(frame);
    while (this.#pending.length > pendingFramesMax) await this.#sendFirst();
  }

  async finish(): Promise<void> {
    while (this.#pending.length > 0) await this.#sendFirst();
  }

  async #sendFirst(): Promise<void> {
    const first = this.#pending.shift();
    if (first !== undefined) await this.#send(await first);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    this.bytesWritten += bytes.length;
    await this.#sink(bytes);
  }
}

async function encodeFrame(kind: number, index: number, payload: object): Promise<Uint8Array> {
  const plain = plainFrame(payload);
  const plainLength = plain.length - frameHeaderBytes;
  const body = plain.subarray(frameHeaderBytes);
  const deflated = isCompressible(body) ? await deflate(body, { level }) : undefined;
  const isSmaller = deflated !== undefined && deflated.length < worthwhileShare * plainLength;
  const frame = isSmaller ? Buffer.allocUnsafe(frameHeaderBytes + deflated.length) : plain;
  if (isSmaller) frame.set(deflated, frameHeaderBytes);
  const stored = frame.subarray(frameHeaderBytes);
  frame.writeUInt8(kind, 0);
  frame.writeUInt8(isSmaller ? flagDeflated : 0, 1);
  frame.writeUInt16BE(0, 2);
  frame.writeUInt32BE(index >>> 0, 4);
  frame.writeUInt32BE(stored.length, 8);
  frame.writeUInt32BE(plainLength, 12);
  const checksum = crc32(stored, crc32(frame.subarray(0, checkedHeaderBytes)));
  frame.writeUInt32BE(checksum, checkedHeaderBytes);
  return frame;
}

/** The uncompressed frame: space for its header, then the payload. */
function plainFrame(payload: object): Buffer {
  const { bytes = noBytes, ...map } = payload as { readonly bytes?: Uint8Array };
  const head = mapCodec.encode(map);
  const plainLength = mapLengthBytes + head.length + bytes.length;
  if (plainLength > payloadBytesMax) {
    throw new Error(`a record has ${plainLength} bytes, more than an archive can contain`);
  }
  const frame = Buffer.allocUnsafe(frameHeaderBytes + plainLength);
  frame.writeUInt32BE(head.length, frameHeaderBytes);
  frame.set(head, frameHeaderBytes + mapLengthBytes);
  frame.set(bytes, frameHeaderBytes + mapLengthBytes + head.length);
  return frame;
}

const noBytes = new Uint8Array(0);

/** Whether compression is worth its time: whether a sample from the middle can be compressed. */
function isCompressible(plain: Uint8Array): boolean {
  if (plain.length <= sampleBytes) return true;
  const from = Math.floor((plain.length - sampleBytes) / 2);
  const sample = plain.subarray(from, from + sampleBytes);
  return deflateRawSync(sample, { level }).length < worthwhileShare * sampleBytes;
}

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
