import type { SourceBody, SourceFound } from "../../core/source.ts";
import type { CopySource } from "../../core/source.ts";
import { inlineBlobBytesMax } from "../shared/limits.ts";

/** A whole blob whose bytes are taken from a URL. */
export function wholeSource(lengthMax: (version: string) => number): SourceBody {
  return {
    kind: "source",
    lengthMax,
    inlineBytesMax: inlineBlobBytesMax,
    style: "blob-from-url",
    range: "none",
    md5Always: false,
  };
}

export function foundIn(source: CopySource | undefined): SourceFound {
  if (source?.kind !== "elsewhere") throw new Error("the bytes were taken from somewhere");
  return source.found;
}
