import type { Param } from "../../core/params.ts";
import { ok } from "../../core/result.ts";
import { parseTagsHeader } from "../../core/tag-set.ts";
import type { Tags } from "../../core/tags.ts";

/** `x-ms-tags: name=value&…` on writes that create a blob. */
export const tagsHeader: Param<Tags | undefined> = {
  sources: ["x-ms-tags"],
  parse: (reader) => {
    const text = reader.header("x-ms-tags");
    return text === undefined || text === "" ? ok(undefined) : parseTagsHeader(text);
  },
};
