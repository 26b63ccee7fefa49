import type { Param } from "../../protocol/params.ts";
import { fail, ok } from "../../protocol/result.ts";
import { parseFilter } from "../filter/parse-filter.ts";
import type { Filter } from "../filter/tree.ts";

export const pageRowsMax = 1000;
const selectedMax = 255;

export const filter: Param<Filter | undefined> = {
  sources: ["?$filter"],
  parse: (reader) => {
    const text = reader.query("$filter");
    return text === undefined || text.trim() === "" ? ok(undefined) : parseFilter(text);
  },
};

/** Per page; more than a page is refused. None is an empty answer: Storage Explorer asks for it. */
export const top: Param<number> = {
  sources: ["?$top"],
  parse: (reader) => {
    const text = reader.query("$top");
    if (text === undefined || text === "") return ok(pageRowsMax);
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return count <= pageRowsMax ? ok(count) : fail("InvalidInput");
  },
};

/** Undefined for everything: left out, empty or `*`. */
export const select: Param<readonly string[] | undefined> = {
  sources: ["?$select"],
  parse: (reader) => {
    const names = (reader.query("$select") ?? "")
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
    if (names.length === 0 || names.includes("*")) return ok(undefined);
    const once = [...new Set(names)];
    return once.length > selectedMax ? fail("InvalidInput") : ok(once);
  },
};
