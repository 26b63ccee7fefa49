import { formatRoute, keptQuery } from "../route.ts";

/** The folder that a view shows: a container, and a prefix of blob names. */
export interface FolderAddress {
  readonly account: string;
  readonly container: string;
  readonly prefix: string;
}

/** The blob whose details are shown, or one of its snapshots or versions. */
export interface ShownBlob {
  readonly name: string;
  readonly snapshot?: string | undefined;
  readonly version?: string | undefined;
}

export function folderRoute(
  { account, container, prefix }: FolderAddress,
  blob?: ShownBlob,
): string {
  const { name, snapshot, version } = blob ?? {};
  return blobsRoute({ account, container, prefix }, { blob: name, snapshot, version });
}

function blobsRoute(
  { account, container, prefix }: FolderAddress,
  query: Readonly<Record<string, string | undefined>>,
): string {
  const segments = prefix === "" ? [account, container] : [account, container, prefix];
  return formatRoute("blobs", segments, { ...keptQuery("blobs", segments), ...query });
}

/** The address of a folder with the details of its container beside it. */
export function detailsRoute(folder: FolderAddress): string {
  return blobsRoute(folder, { details: "container" });
}

/** The same folder, with the details of a directory beside it. */
export function directoryRoute(folder: FolderAddress, directory: string): string {
  return blobsRoute(folder, { directory });
}

export function parentPrefix(prefix: string): string {
  const cut = prefix.replace(/\/$/, "").lastIndexOf("/");
  return cut < 0 ? "" : prefix.slice(0, cut + 1);
}

/** The search by tags in an account. */
export function tagSearchRoute(account: string, where: string): string {
  return formatRoute("blobs", [account], { find: "tags", where });
}
