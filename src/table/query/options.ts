import type { Param } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { parseFilter } from "../filter/parse-filter.ts";
import type { Filter } from "../filter/tree.ts";

/** Limit of the service for one page. */
const pageRowsMax = 1000;
/** Most properties in `$select`. */
const selectedMax = 255;

export const filter: Param<Filter | undefined> = {
  sources: ["?$filter"],
  parse: (reader) => {
    const text = reader.query("$filter");
    return text === undefined || text.trim() === "" ? ok(undefined) : parseFilter(text);
  },
};

/** Entities per page, at most 1,000. 0 gives an empty page; Storage Explorer sends it. */
export const top: Param<number> = {
  sources: ["?$top"],
  parse: (reader) => {
    const text = reader.query("$top");
    if (text === undefined || text === "") return ok(pageRowsMax);
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return count <= pageRowsMax ? ok(count) : fail("InvalidInput");
  },
};

/** Undefined for all properties: absent, empty or `*`. */
export const select: Param<readonly string[] | undefined> = {
  sources: ["?$select"],
  parse: (reader) => {
    const names = (reader.query("$select") ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    if (names.length === 0 || names.includes("*")) return ok(undefined);
    const unique = [...new Set(names)];
    return unique.length > selectedMax ? fail("InvalidInput") : ok(unique);
  },
};
