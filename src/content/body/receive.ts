import type { ReceivedBody, SliceSourceOfLength } from "../content-ref.ts";
import { BodyTooLarge, type Body, type ReceiveOptions } from "../content.ts";
import { newBytes } from "../../process/bytes.ts";
import { BodyChecksums, md5Of, crc64Bytes, crc64BytesOf } from "./checksums.ts";
import { BodySink } from "./body-sink.ts";
import type { ExtentWriter } from "../extents/extent-writer.ts";
import type { Md5Source } from "./md5-thread.ts";

/** Smaller bodies take less time to hash than a thread takes to answer. */
const threadBytesMin = 512 * 1024;

/** Receives a body. Chunks are copied or written before the next one is requested, so a body may
 *  reuse its buffer. */
export function receive(
  writer: ExtentWriter,
  body: Body,
  options: ReceiveOptions,
  md5Thread?: Md5Source,
): Promise<ReceivedBody> {
  const { length, lengthMax } = options;
  if (length !== undefined && length > lengthMax) return Promise.reject(tooLarge(lengthMax));
  return length !== undefined && length <= options.inlineBytesMax && !options.encryption
    ? receiveSmall(body, length, options)
    : receiveStream(writer, body, options, md5Thread);
}

async function receiveStream(
  writer: ExtentWriter,
  body: Body,
  options: ReceiveOptions,
  md5Thread: Md5Source | undefined,
): Promise<ReceivedBody> {
  const { length = 0, lengthMax } = options;
  const thread = options.md5 && length >= threadBytesMin ? md5Thread : undefined;
  const checksums = new BodyChecksums(options, thread?.begin());
  const sink = new BodySink(writer, checksums, options);
  try {
    for await (const chunk of body) {
      if (sink.length + chunk.length > lengthMax) throw tooLarge(lengthMax);
      await sink.add(chunk);
      body.discard?.(chunk);
    }
    if (options.length !== undefined && length !== sink.length) {
      throw new BodyLengthMismatch(sink.length);
    }
    const pieces = await sink.finish();
    return await describe(sink.length, pieces, checksums);
  } catch (error) {
    checksums.abandon();
    await sink.abandon();
    throw error;
  }
}

/** Receives a body whose declared length fits into the record, which is the most common case. */
function receiveSmall(body: Body, length: number, options: ReceiveOptions): Promise<ReceivedBody> {
  const whole = body.whole?.(length) ?? collect(body, length);
  return whole.then((bytes) => describeSmall(bytes, length, options));
}

function describeSmall(
  bytes: Uint8Array,
  length: number,
  { md5, crc64 }: ReceiveOptions,
): ReceivedBody {
  if (bytes.length !== length) throw new BodyLengthMismatch(bytes.length);
  return {
    length,
    pieces: length === 0 ? [] : [{ length, source: { bytes } }],
    md5: md5 ? md5Of(bytes) : undefined,
    crc64: crc64 ? crc64BytesOf(bytes) : undefined,
  };
}

async function collect(body: Body, length: number): Promise<Uint8Array> {
  const bytes = newBytes(length);
  let filled = 0;
  for await (const chunk of body) {
    if (filled + chunk.length > length) throw new BodyLengthMismatch(filled + chunk.length);
    bytes.set(chunk, filled);
    filled += chunk.length;
  }
  return filled < length ? bytes.subarray(0, filled) : bytes;
}

/** The body is shorter or longer than declared. */
export class BodyLengthMismatch extends Error {
  override readonly name = "BodyLengthWrong";

  constructor(length: number) {
    super(`body has ${length} bytes, which is not the declared length`);
  }
}

function tooLarge(lengthMax: number): BodyTooLarge {
  return new BodyTooLarge(`body is longer than ${lengthMax} bytes`);
}

async function describe(
  length: number,
  pieces: readonly SliceSourceOfLength[],
  checksums: BodyChecksums,
): Promise<ReceivedBody> {
  const crc64 = checksums.crc64();
  return {
    length,
    pieces,
    md5: await checksums.md5(),
    crc64: crc64 === undefined ? undefined : crc64Bytes(crc64),
  };
}
