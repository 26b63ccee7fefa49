import { StoreUnavailable } from "../store/store.ts";

/** The disk is full or failing, or out of handles: conditions that pass, not mistakes of ours. */
const passingCodes = new Set([
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

export function isForSpace(error: unknown): boolean {
  return error instanceof Error && "code" in error && noSpaceCodes.has(error.code);
}

export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailable) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || !passingCodes.has(code)) return error;
  return new StoreUnavailable(`contents cannot be written: ${error.message}`, { cause: error });
}
