import type { AdminRequest } from "../request.ts";

const formBytesMax = 64 * 1024;

/** Reads a form; undefined if the body is none, too long, or if there is no memory for it. */
export async function readForm({
  headers,
  readBytes,
}: AdminRequest): Promise<URLSearchParams | undefined> {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  const bytes = await readBytes(formBytesMax);
  if (typeof bytes === "string" || type !== "application/x-www-form-urlencoded") return undefined;
  return new URLSearchParams(bytes.toString("utf8"));
}
