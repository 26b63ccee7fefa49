import { StoreUnavailable } from "../store/store.ts";

/** Error codes of temporary conditions rather than bugs: the disk is full or failing, or the
 *  process is out of file handles. */
const transientCodes = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
]);

const noSpaceCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export function isNoSpaceError(error: unknown): boolean {
  return error instanceof Error && "code" in error && noSpaceCodes.has(error.code);
}

/** Converts an error of a temporary condition to `StoreUnavailable`; returns any other error
 *  unchanged. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !transientCodes.has(code)) return error;
  return new StoreUnavailable(`writing content failed: ${error.message}`, { cause: error });
}
