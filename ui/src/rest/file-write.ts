import { failed, type Result } from "../result.ts";
import { filePath, getFileProperties, type FileAddress } from "./file.ts";
import { lease } from "./lease.ts";
import { ownLease } from "./own-leases.ts";
import { request } from "./request.ts";

const rangeBytesMax = 4 * 1024 * 1024;

/**
 * Replaces the content of a file if it still has the given ETag. The File service has no
 * conditional headers, so that the file is leased meanwhile: no other client can change it between
 * the check and the write.
 */
export async function replaceContent(
  address: FileAddress,
  content: Uint8Array<ArrayBuffer>,
  ifMatch: string,
): Promise<Result<unknown>> {
  const leased = { service: "file", path: filePath(address) } as const;
  const own = ownLease("file", leased.path);
  const held = own ?? (await lease(leased, { action: "acquire", durationSeconds: -1 }));
  if (typeof held !== "string" && !held.ok) return held;
  const leaseId = typeof held === "string" ? held : held.value;
  const result = await writeLeased(address, { content, ifMatch, leaseId });
  if (own === undefined) await lease(leased, { action: "release", leaseId });
  return result;
}

interface LeasedWrite {
  readonly content: Uint8Array<ArrayBuffer>;
  readonly ifMatch: string;
  readonly leaseId: string;
}

async function writeLeased(
  address: FileAddress,
  { content, ifMatch, leaseId }: LeasedWrite,
): Promise<Result<unknown>> {
  const state = await getFileProperties(address);
  if (!state.ok) return state;
  if (state.value.get("etag") !== ifMatch) {
    const message = "The file was changed by another client";
    return failed({ status: 412, code: "ConditionNotMet", message });
  }
  const before = Number(state.value.get("content-length") ?? 0);
  const resize = (): Promise<Result<unknown>> =>
    request("file", filePath(address), {
      method: "PUT",
      query: { comp: "properties" },
      headers: { "x-ms-content-length": String(content.length), "x-ms-lease-id": leaseId },
    });
  // A file becomes shorter only after its new content is written.
  const grown = content.length > before ? await resize() : state;
  if (!grown.ok) return grown;
  const written = await writeRanges(address, content, leaseId);
  return written.ok && content.length < before ? resize() : written;
}

async function writeRanges(
  address: FileAddress,
  content: Uint8Array<ArrayBuffer>,
  leaseId: string,
): Promise<Result<unknown>> {
  let last: Result<unknown> = { ok: true, value: undefined };
  for (let start = 0; start < content.length && last.ok; start += rangeBytesMax) {
    const end = Math.min(content.length, start + rangeBytesMax);
    last = await request("file", filePath(address), {
      method: "PUT",
      query: { comp: "range" },
      headers: {
        "x-ms-write": "update",
        "x-ms-range": `bytes=${start}-${end - 1}`,
        "x-ms-lease-id": leaseId,
      },
      body: content.slice(start, end),
    });
  }
  return last;
}
