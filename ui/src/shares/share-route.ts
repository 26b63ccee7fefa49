import type { FolderAddress } from "../rest/file-list.ts";
import { formatRoute, keptQuery } from "../route.ts";

/** The address of a folder of a share or share snapshot, with the details of `file` beside it if
 *  given. */
export function shareRoute(
  { account, share, folder, snapshot }: FolderAddress,
  file?: string,
): string {
  const segments = folder === "" ? [account, share] : [account, share, folder];
  return formatRoute("shares", segments, { ...keptQuery("shares", segments), snapshot, file });
}
