import type { Awaitable } from "../base/awaitable.ts";
import { encodeBase64 } from "../base/base64.ts";
import type { ContentRef } from "../content/content-ref.ts";
import { md5Of } from "../content/checksums.ts";
import { crc64BytesOf } from "../content/crc64.ts";
import type { Outcome } from "../operation/execute.ts";
import type { ReplyBody } from "../operation/reply.ts";

type ReplyOutcome = Extract<Outcome, { kind: "reply" }>;
type ContentReply = Extract<ReplyBody, { content: ContentRef }>;

/** Adds the checksum of a range (at most 4 MiB) if the reply asks for one. Content of a remote
 *  store is fetched up to its first byte, because no fault could be returned once the headers are
 *  sent. */
export function addRangeChecksum(outcome: ReplyOutcome): Awaitable<Outcome> {
  const { body, reader } = outcome;
  if (body === undefined || !("content" in body)) return outcome;
  if (body.checksum !== undefined) return withChecksum(outcome, body);
  const reached = reader?.reach?.(body.from, body.length);
  return reached === undefined ? outcome : afterReach(outcome, reached);
}

async function afterReach(outcome: ReplyOutcome, reached: Promise<void>): Promise<Outcome> {
  try {
    await reached;
  } catch (error) {
    outcome.reader?.close();
    throw error;
  }
  return outcome;
}

async function withChecksum(outcome: ReplyOutcome, body: ContentReply): Promise<Outcome> {
  const bytes = await readAll(outcome, body).finally(() => outcome.reader?.close());
  const value = body.checksum === "md5" ? md5Of(bytes) : crc64BytesOf(bytes);
  const name = body.checksum === "md5" ? "Content-MD5" : "x-ms-content-crc64";
  const stored = outcome.headers.find((group) => group["Content-Type"] !== undefined);
  const type = stored?.["Content-Type"] ?? "application/octet-stream";
  const headers = [...outcome.headers, { [name]: encodeBase64(value) }];
  return { ...outcome, headers, body: { type, bytes }, reader: undefined };
}

async function readAll(
  { reader }: ReplyOutcome,
  { content, from, length }: ContentReply,
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
