import { formatRoute } from "../route.ts";

export interface FolderPlace {
  readonly account: string;
  readonly container: string;
  readonly prefix: string;
}

export interface ShownBlob {
  readonly name: string;
  readonly snapshot?: string | undefined;
  readonly version?: string | undefined;
}

export function folderRoute({ account, container, prefix }: FolderPlace, blob?: ShownBlob): string {
  const segments = prefix === "" ? [account, container] : [account, container, prefix];
  return formatRoute("blobs", segments, {
    blob: blob?.name,
    snapshot: blob?.snapshot,
    version: blob?.version,
  });
}

/** The same folder, with the container's details beside it. */
export function detailsRoute({ account, container, prefix }: FolderPlace): string {
  const segments = prefix === "" ? [account, container] : [account, container, prefix];
  return formatRoute("blobs", segments, { details: "container" });
}

export function parentPrefix(prefix: string): string {
  const cut = prefix.replace(/\/$/, "").lastIndexOf("/");
  return cut < 0 ? "" : prefix.slice(0, cut + 1);
}
