import { readingUrl } from "../admin/sas.ts";
import { followDownload } from "../blobs/download.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import type { FilePlace } from "../rest/file.ts";

/** A URL for one file, which the browser can read itself, whatever its size. */
export async function fileUrl(
  place: FilePlace,
  contentDisposition?: string,
): Promise<string | undefined> {
  const made = await readingUrl({
    account: place.account,
    service: "file",
    container: place.share,
    path: place.path,
    shareSnapshot: place.snapshot,
    contentDisposition,
  });
  if (made.ok) return made.value;
  notify("bad", describeFailure(made.failure));
  return undefined;
}

export async function downloadFile(place: FilePlace): Promise<void> {
  const name = place.path.split("/").at(-1) ?? place.path;
  const url = await fileUrl(place, `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
  if (url !== undefined) followDownload(url, name);
}
