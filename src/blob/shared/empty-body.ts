import { invalidHeader } from "../../protocol/faults.ts";
import type { Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";

/** Append and page blobs are created empty: bytes sent along would be lost. */
export const emptyBody: Param<undefined> = {
  sources: ["Content-Length"],
  parse: (reader) => {
    const length = reader.header("content-length") ?? "0";
    return length === "0" ? ok(undefined) : invalidHeader("Content-Length", length);
  },
};
