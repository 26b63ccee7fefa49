import { promisify } from "node:util";
import { crc32, deflateRaw, deflateRawSync } from "node:zlib";
import {
  checkedHeaderBytes,
  firstLine,
  flagDeflated,
  frameHeaderBytes,
  frameKinds,
  mapCodec,
  mapLengthBytes,
  payloadBytesMax,
  type FrameKind,
  type FramePayloads,
} from "./archive-format.ts";

const deflate = promisify(deflateRaw);

/** Receives the bytes of an archive, for example to write them to a file; resolves when more bytes
 *  are accepted. */
export type ArchiveSink = (bytes: Uint8Array) => Promise<void> | void;

/** Level of the Deflate compression: the fastest. Higher ones save little space and take several
 *  times as long. */
const level = 1;
/** Frames that are compressed at the same time. */
const pendingFramesMax = 4;
const sampleBytes = 16 * 1024;
/** A frame is stored as it is unless compression saves an eighth. */
const worthwhileShare = 7 / 8;

/** Writes the frames of an archive (`archive-format.ts`) in order, while threads compress up to 4
 *  of the following ones. `write` may return before its frame is sent, and a later call may throw
 *  the error of a frame; `finish` sends the rest. */
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

/** Whether a sample from the middle of the bytes can be compressed. */
function isCompressible(plain: Uint8Array): boolean {
  if (plain.length <= sampleBytes) return true;
  const from = Math.floor((plain.length - sampleBytes) / 2);
  const sample = plain.subarray(from, from + sampleBytes);
  return deflateRawSync(sample, { level }).length < worthwhileShare * sampleBytes;
}
