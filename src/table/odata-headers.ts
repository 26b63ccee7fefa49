import { invalidHeader } from "../protocol/faults.ts";
import type { Param } from "../protocol/params.ts";
import { fail, ok } from "../protocol/result.ts";

/** Headers of every OData response. */
export const odataHeaders = {
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
} as const;

export const odataHeaderNames = ["Cache-Control", "X-Content-Type-Options"] as const;

/** `Prefer`: whether an insert returns the entity. Undefined without the header. */
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

/** `Prefer` of updates, which never return the entity. Other values are ignored. */
export const preferNoContent: Param<"return-no-content" | undefined> = {
  sources: ["Prefer"],
  parse: (reader) => {
    const isNoContent = reader.header("prefer")?.trim().toLowerCase() === "return-no-content";
    return ok(isNoContent ? "return-no-content" : undefined);
  },
};

/** Rejects conditional headers on inserts and upserts, which would otherwise be ignored. */
export const unconditional: Param<undefined> = {
  sources: [],
  parse: (reader) => {
    const named = reader.header("if-match") ?? reader.header("if-none-match");
    return named === undefined ? ok(undefined) : fail("InvalidInput");
  },
};
