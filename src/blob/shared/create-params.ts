import type { Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { parseTagsHeader } from "../../protocol/tag-set.ts";
import type { Tags } from "../../protocol/tags.ts";
import { invalidHeader } from "../../protocol/faults.ts";

/** `x-ms-tags: name=value&…` of an operation that creates a blob; undefined without tags. */
export const tagsHeader: Param<Tags | undefined> = {
  sources: ["x-ms-tags"],
  setsTags: true,
  parse: (reader) => {
    const text = reader.header("x-ms-tags");
    return text === undefined || text === "" ? ok(undefined) : parseTagsHeader(text);
  },
};

/** Rejects a body in operations that create an append or page blob, because its bytes would be
 *  lost. */
export const emptyBody: Param<undefined> = {
  sources: ["Content-Length"],
  parse: (reader) => {
    const length = reader.header("content-length") ?? "0";
    return length === "0" ? ok(undefined) : invalidHeader("Content-Length", length);
  },
};
