import { readingUrl } from "../admin/sas.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import type { BlobAddress } from "../rest/blob.ts";

/** A URL for one blob, which the browser can download itself, whatever its size. */
export async function readUrl(
  address: BlobAddress,
  contentDisposition?: string,
): Promise<string | undefined> {
  const made = await readingUrl({
    account: address.account,
    service: "blob",
    container: address.container,
    path: address.name,
    snapshot: address.snapshot,
    versionId: address.version,
    contentDisposition,
  });
  if (made.ok) return made.value;
  notify("bad", describeFailure(made.failure));
  return undefined;
}

export async function download(address: BlobAddress): Promise<void> {
  const name = address.name.split("/").at(-1) ?? address.name;
  const url = await readUrl(address, `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
  if (url !== undefined) followDownload(url, name);
}

/** Saves a text as a file. */
export function saveText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  followDownload(url, name);
  URL.revokeObjectURL(url);
}

export function followDownload(url: string, name: string): void {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
