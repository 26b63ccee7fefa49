import type { Open } from "../locks/lock-state.ts";
import type { CacheRequest } from "../locks/caching.ts";
import type { ShareAddress } from "./file-place.ts";

/** What each disposition does with a present and with a missing name ([MS-FSA] 2.1.5.1). */
export const dispositions = {
  supersede: { present: "replace", missing: "create" },
  open: { present: "open", missing: "fail" },
  create: { present: "fail", missing: "create" },
  openIf: { present: "open", missing: "create" },
  overwrite: { present: "replace", missing: "fail" },
  overwriteIf: { present: "replace", missing: "create" },
} as const;

export type Disposition = keyof typeof dispositions;

/** A CREATE request after decoding: generic rights are resolved, the path is split. */
export interface FileOpenRequest {
  readonly share: ShareAddress;
  readonly path: readonly string[];
  readonly disposition: Disposition;
  /** The kind that an existing target must have; undefined: either. */
  readonly wants: "file" | "directory" | undefined;
  /** MAXIMUM_ALLOWED: all rights that the file allows, at least `open.access`. */
  readonly wantsMaximum: boolean;
  readonly attributes: number;
  readonly sddl: string | undefined;
  readonly open: Omit<Open, "openedAt">;
  readonly cache: CacheRequest | undefined;
  /** The file that the lease key is already in use for; any other is an error. */
  readonly cacheFile?: bigint | undefined;
  /** The last epoch that a share snapshot shows; undefined for the present. */
  readonly epoch?: number | undefined;
}

export const OpenAction = { superseded: 0, opened: 1, created: 2, overwritten: 3 } as const;
