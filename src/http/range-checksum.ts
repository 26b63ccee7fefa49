import { encodeBase64 } from "../base/base64.ts";
import type { ContentRef } from "../content/content-ref.ts";
import type { ContentReader } from "../content/content.ts";
import { md5Of } from "../content/checksums.ts";
import { crc64Bytes, crc64Of } from "../content/crc64.ts";
import type { Outcome } from "../operation/execute.ts";

/** A range of at most 4 MiB whose checksum was asked for is read whole before its headers go, and
 *  what lies elsewhere is found there: afterwards nothing could be refused any more. */
export async function addRangeChecksum(outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== "reply" || outcome.body === undefined) return outcome;
  const { body, reader } = outcome;
  if (!("content" in body)) return outcome;
  if (body.checksum === undefined) {
    await reader?.reach?.(body.from, body.length).catch(refuse(reader));
    return outcome;
  }
  const bytes = await readAll(outcome, body).finally(() => reader?.close());
  const value = body.checksum === "md5" ? md5Of(bytes) : crc64Bytes(crc64Of(bytes));
  const name = body.checksum === "md5" ? "Content-MD5" : "x-ms-content-crc64";
  const stored = outcome.headers.find((group) => group["Content-Type"] !== undefined);
  const type = stored?.["Content-Type"] ?? "application/octet-stream";
  const headers = [...outcome.headers, { [name]: encodeBase64(value) }];
  return { ...outcome, headers, body: { type, bytes }, reader: undefined };
}

function refuse(reader: ContentReader): (error: unknown) => never {
  return (error) => {
    reader.close();
    throw error;
  };
}

async function readAll(
  { reader }: Extract<Outcome, { kind: "reply" }>,
  { content, from, length }: { content: ContentRef; from: number; length: number },
): Promise<Uint8Array> {
  if (content.kind === "inline") return content.bytes.subarray(from, from + length);
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of reader?.read(from, length) ?? []) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
