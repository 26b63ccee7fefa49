import type { Open } from "../locks/lock-state.ts";
import type { CachingRequest } from "../locks/caching.ts";
import type { ShareAddress } from "./file-reference.ts";

/** What each CreateDisposition does with a name that exists (`present`) and with one that does not
 *  ([MS-FSA] 2.1.5.1). */
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
  /** The kind that an existing target must have; undefined if it may be either. */
  readonly wants: "file" | "directory" | undefined;
  /** MAXIMUM_ALLOWED: all rights that the file allows, at least `open.access`. */
  readonly wantsMaximum: boolean;
  readonly attributes: number;
  /** Security descriptor for a new or replaced file; undefined to inherit or keep one. */
  readonly sddl: string | undefined;
  readonly open: Omit<Open, "openedAt">;
  readonly cache: CachingRequest | undefined;
  /** Id of the file that already uses the SMB lease key of `cache`. Opening another file with this
   *  key is a fault. Undefined if the key is new. */
  readonly cacheFile?: bigint | undefined;
  /** The last epoch that the addressed share snapshot shows; undefined for the current files. */
  readonly epoch?: number | undefined;
}

/** CreateAction of the CREATE response ([MS-SMB2] 2.2.14). */
export const OpenAction = { superseded: 0, opened: 1, created: 2, overwritten: 3 } as const;
