import type { Received, SliceSourceOfLength } from "../core/content-ref.ts";
import { BodyChecksums } from "./checksums.ts";
import { BodyTooLarge, type ReceiveOptions } from "./content.ts";
import { BodySink } from "./body-sink.ts";
import { crc64Bytes } from "./crc64.ts";
import type { ExtentWriter } from "./extent-writer.ts";

/** Streams a body to where it stays. Chunks are copied or written before the next is asked for, so
 *  a body may reuse its buffer. */
export async function receive(
  writer: ExtentWriter,
  body: AsyncIterable<Uint8Array>,
  options: ReceiveOptions,
): Promise<Received> {
  const { length, lengthMax } = options;
  if (length !== undefined && length > lengthMax) throw tooLarge(lengthMax);
  const checksums = new BodyChecksums(options);
  const sink = new BodySink(writer, checksums, options);
  try {
    for await (const chunk of body) {
      if (sink.length + chunk.length > lengthMax) throw tooLarge(lengthMax);
      await sink.add(chunk);
    }
    if (length !== undefined && length !== sink.length) throw new BodyLengthWrong(sink.length);
    const pieces = await sink.finish();
    return describe(sink.length, pieces, checksums);
  } catch (error) {
    await sink.abandon();
    throw error;
  }
}

/** The body was not as long as announced. */
export class BodyLengthWrong extends Error {
  override readonly name = "BodyLengthWrong";

  constructor(length: number) {
    super(`the body ended after ${length} bytes, not where announced`);
  }
}

function tooLarge(lengthMax: number): BodyTooLarge {
  return new BodyTooLarge(`the body is longer than ${lengthMax} bytes`);
}

function describe(
  length: number,
  pieces: readonly SliceSourceOfLength[],
  checksums: BodyChecksums,
): Received {
  const md5 = checksums.md5();
  const crc64 = checksums.crc64();
  return {
    length,
    pieces,
    ...(md5 === undefined ? {} : { md5 }),
    ...(crc64 === undefined ? {} : { crc64: crc64Bytes(crc64) }),
  };
}
