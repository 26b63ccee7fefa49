import type { IncomingMessage } from "node:http";

const formBytesMax = 64 * 1024;

/** Reads a form; undefined if the body is none or too long. */
export async function readForm(message: IncomingMessage): Promise<URLSearchParams | undefined> {
  const type = message.headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) return undefined;
    chunks.push(chunk);
  }
  if (type !== "application/x-www-form-urlencoded") return undefined;
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
