import pg from "pg";
import { describe, expect, it } from "vitest";
import { StoreBusy } from "../store.ts";
import { fencedCode } from "./schema.ts";
import { asUnavailable } from "./unavailable.ts";

function databaseError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError("reason", 1, "error");
  error.code = code;
  return error;
}

describe("asUnavailable", () => {
  it.each([
    ["a broken connection", new Error("reason"), "the database is unavailable: reason"],
    ["a database that restarts", databaseError("57P01"), "the database is unavailable: reason"],
    ["a fenced server node", databaseError(fencedCode), "this server node was fenced: restart it"],
  ])("converts the error of %s", (_case, error, message) => {
    expect(asUnavailable(error)).toMatchObject({ name: "StoreUnavailable", message, cause: error });
  });

  it.each([
    ["a wrong statement", databaseError("42601")],
    ["a busy store", new StoreBusy("busy")],
  ])("returns the error of %s unchanged", (_case, error) => {
    expect(asUnavailable(error)).toBe(error);
  });
});
