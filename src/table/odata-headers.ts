import { invalidHeader } from "../protocol/faults.ts";
import type { Param } from "../protocol/params.ts";
import { fail, ok } from "../protocol/result.ts";

/** On every OData answer. */
export const odataHeaders = {
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
} as const;

export const odataHeaderNames = ["Cache-Control", "X-Content-Type-Options"] as const;

/** Whether an insert answers with what was inserted; undefined if the client did not say. */
export const prefer: Param<"return-content" | "return-no-content" | undefined> = {
  sources: ["Prefer"],
  parse: (reader) => {
    const text = reader.header("prefer");
    if (text === undefined || text === "") return ok(undefined);
    const lower = text.trim().toLowerCase();
    if (lower === "return-content" || lower === "return-no-content") return ok(lower);
    return invalidHeader("Prefer", text);
  },
};

/** Inserts and upserts look at no ETag, so naming one is a mistake that must not go unnoticed. */
export const unconditional: Param<undefined> = {
  sources: [],
  parse: (reader) => {
    const named = reader.header("if-match") ?? reader.header("if-none-match");
    return named === undefined ? ok(undefined) : fail("InvalidInput");
  },
};
