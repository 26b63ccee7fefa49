import { readingUrl } from "../admin/sas.ts";
import { describeFailure, notify } from "../parts/notices.tsx";
import type { BlobPlace } from "../rest/blob.ts";

/** A URL for one blob, which the browser can download itself, whatever its size. */
export async function readUrl(
  place: BlobPlace,
  contentDisposition?: string,
): Promise<string | undefined> {
  const made = await readingUrl({
    account: place.account,
    service: "blob",
    container: place.container,
    path: place.name,
    snapshot: place.snapshot,
    versionId: place.version,
    contentDisposition,
  });
  if (made.ok) return made.value;
  notify("bad", describeFailure(made.failure));
  return undefined;
}

export async function download(place: BlobPlace): Promise<void> {
  const name = place.name.split("/").at(-1) ?? place.name;
  const url = await readUrl(place, `attachment; filename*=UTF-8''${encodeURIComponent(name)}`);
  if (url !== undefined) followDownload(url, name);
}

export function followDownload(url: string, name: string): void {
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}
