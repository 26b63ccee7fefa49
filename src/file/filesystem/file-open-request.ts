import type { Open } from "../locks/lock-state.ts";
import type { CacheRequest } from "../locks/caching.ts";
import type { ShareAddress } from "./file-place.ts";

/** What becomes of a name that is there, and of one that is not ([MS-FSA] 2.1.5.1). */
export const dispositions = {
  supersede: { present: "replace", missing: "create" },
  open: { present: "open", missing: "fail" },
  create: { present: "fail", missing: "create" },
  openIf: { present: "open", missing: "create" },
  overwrite: { present: "replace", missing: "fail" },
  overwriteIf: { present: "replace", missing: "create" },
} as const;

export type Disposition = keyof typeof dispositions;

/** An open as its door understands it: generic rights resolved, names taken apart. */
export interface FileOpenRequest {
  readonly share: ShareAddress;
  readonly path: readonly string[];
  readonly disposition: Disposition;
  /** What the file must be, if it matters. */
  readonly wants: "file" | "directory" | undefined;
  /** Everything that the file allows, and `open.access` at least. */
  readonly wantsMaximum: boolean;
  readonly attributes: number;
  readonly sddl: string | undefined;
  readonly open: Omit<Open, "openedAt">;
  readonly cache: CacheRequest | undefined;
  /** The only file that the cache's key may be used for, because it is in use for it. */
  readonly cacheFile?: bigint | undefined;
  /** The last epoch of a snapshot, for a look into the past. */
  readonly epoch?: number | undefined;
}

export const OpenAction = { superseded: 0, opened: 1, created: 2, overwritten: 3 } as const;
