import { readingUrl } from "../admin/sas.ts";
import { followDownload } from "../blobs/download.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import type { FileAddress } from "../rest/file.ts";

/** A URL for one file, which the browser can read itself, whatever its size. */
export async function fileUrl(
  address: FileAddress,
  contentDisposition?: string,
): Promise<string | undefined> {
  const made = await readingUrl({
    account: address.account,
    service: "file",
    container: address.share,
    path: address.path,
    shareSnapshot: address.snapshot,
    contentDisposition,
  });
  if (made.ok) return made.value;
  notify("bad", describeFailure(made.failure));
  return undefined;
}

export async function downloadFile(address: FileAddress): Promise<void> {
  const name = address.path.split("/").at(-1) ?? address.path;
  const url = await fileUrl(address, `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
  if (url !== undefined) followDownload(url, name);
}
