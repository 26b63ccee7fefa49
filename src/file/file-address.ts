import type { Ticks } from "../base/ticks.ts";
import type { Address } from "../operation/operation.ts";
import { snapshotTime } from "../operation/common-params.ts";
import type { QueryReader, SignedName } from "../operation/service.ts";
import { pathWithoutTrailingDots } from "../protocol/file-names.ts";
import { checkResourceName } from "../protocol/names.ts";
import { boolean, header } from "../protocol/params.ts";
import { ok, type Result } from "../protocol/result.ts";

/** Parses the URLs of the File service, also for the name that credentials must cover. */

/** What the URL of a REST request addresses, parsed by `identify` below. */
export interface FileAddress extends Address {
  readonly resource: "service" | "share" | "directory" | "file" | "entry";
  readonly share: string;
  /** Path in the share, decoded from the URL. Dots at the end of names are still present;
   *  `x-ms-allow-trailing-dot` decides whether they are kept. */
  readonly path: string;
  readonly snapshot: Ticks | undefined;
}

const trailingDotHeader = "x-ms-allow-trailing-dot";

/** Whether names in the path keep dots at their end, which are removed otherwise. `fileOperation`
 *  adds this parameter to every operation. */
export const keepsTrailingDots = header(trailingDotHeader, boolean);

/** Values of the query parameter `comp` whose operations accept both a file and a directory. */
const entryComps: ReadonlySet<string> = new Set(["listhandles", "forceclosehandles", "rename"]);

/** Finds what a URL addresses, for `http/request/target.ts`: `/` the service, `/share` a share,
 *  `/share/path?restype=directory` a directory, `/share/path` a file. With a `comp` in `entryComps`
 *  it is an entry: a file or a directory. */
export function identify(path: string, query: QueryReader): Result<FileAddress> {
  const restype = query.get("restype")?.toLowerCase();
  const comp = query.get("comp")?.toLowerCase() ?? "";
  // Snapshot Share ignores this parameter, with any value.
  const isIgnored = restype === "share" && comp === "snapshot";
  const at = isIgnored ? ok(undefined) : snapshotTime(query, "sharesnapshot");
  if (!at.ok) return at;
  const snapshot = at.value;
  if (path === "") return ok({ resource: "service", share: "", path: "", snapshot });
  const slash = path.indexOf("/");
  const share = slash < 0 ? path : path.slice(0, slash);
  const rest = slash < 0 ? "" : path.slice(slash + 1);
  const named = checkResourceName(share);
  if (!named.ok) return named;
  const address = { share, path: rest, snapshot };
  if (entryComps.has(comp)) return ok({ resource: "entry", ...address });
  if (restype === "directory") return ok({ resource: "directory", ...address });
  return ok({ resource: rest === "" ? "share" : "file", ...address });
}

/** The share and path that the credentials of a request must cover: those of the file that it
 *  addresses, so without trailing dots unless a header keeps them. A SAS of `a.` therefore does not
 *  cover a request that addresses `a` (recorded from Azure for sources of Put Range). */
export function signedName(
  { share, path }: FileAddress,
  headerOf?: (name: string) => string | undefined,
): SignedName {
  const keepsDots = headerOf === undefined || headerOf(trailingDotHeader)?.toLowerCase() === "true";
  const named = keepsDots ? path : pathWithoutTrailingDots(path);
  return { name: share || undefined, path: named || undefined };
}
