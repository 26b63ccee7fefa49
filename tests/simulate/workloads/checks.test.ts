import { describe, expect, it } from "vitest";
import { checkAccessPolicies } from "./access-policies.ts";
import { inTurn, type Step } from "./in-turn.ts";
import { checkLockBatches } from "./smb-lock-batches.ts";
import { checkTagSearch } from "./tag-search.ts";
import { checkTransfers } from "./transfers-check.ts";

describe("the checker of transfers", () => {
  const problemsOf = (...steps: readonly Step[]) => checkTransfers(inTurn(steps));
  const copied = (value: string, status = 202): Step => ({
    input: { action: "copy", value, from: "another server" },
    output: { status },
  });
  const seen = (value: string, state = "success", isIntact = true): Step => ({
    input: { action: "read" },
    output: { status: 200, value, state, isIntact },
  });
  const last: Step = {
    input: { action: "read", isLast: true },
    output: { status: 200, value: "a", state: "pending", isIntact: true },
  };
  const absent: Step = { input: { action: "read" }, output: { status: 404 } };
  const removed: Step = { input: { action: "remove" }, output: { status: 202 } };
  const aborted: Step = { input: { action: "abort", value: "a" }, output: { status: 204 } };

  it("accepts copies that end, are aborted, replaced or removed", () => {
    expect(problemsOf(absent, copied("a"), seen("a", "pending"), seen("a"))).toEqual([]);
    expect(problemsOf(copied("a"), aborted, seen("a", "aborted"), copied("b"), seen("b"))).toEqual(
      [],
    );
    expect(problemsOf(copied("a"), removed, absent, copied("b"), seen("b", "failed"))).toEqual([]);
    expect(problemsOf(copied("a", 500), absent, seen("a"))).toEqual([]);
  });

  it("rejects bytes of another copy", () => {
    expect(problemsOf(copied("a"), seen("a", "success", false))).not.toEqual([]);
  });

  it("rejects a copy that never ends, or ends twice", () => {
    expect(problemsOf(copied("a"), last)).not.toEqual([]);
    expect(problemsOf(copied("a"), seen("a"), seen("a", "pending"))).not.toEqual([]);
    expect(problemsOf(copied("a"), aborted, seen("a"))).not.toEqual([]);
  });

  it("rejects a copy that brings back what was replaced or removed", () => {
    expect(problemsOf(copied("a"), copied("b"), seen("a"))).not.toEqual([]);
    expect(problemsOf(copied("a"), removed, seen("a"))).not.toEqual([]);
    expect(problemsOf(copied("a"), absent)).not.toEqual([]);
    expect(problemsOf(copied("a"), removed, copied("b"), absent)).not.toEqual([]);
    expect(problemsOf(seen("a"))).not.toEqual([]);
  });
});

describe("the checker of searches by tags", () => {
  const problemsOf = (...steps: readonly Step[]) => checkTagSearch(inTurn(steps));
  const put = (blob: string, color: string, status = 201): Step => ({
    input: { action: "put", blob, color },
    output: { status },
  });
  const found = (color: string, ...blobs: readonly string[]): Step => ({
    input: { action: "find", color },
    output: { status: 200, found: blobs },
  });
  const removed: Step = { input: { action: "remove", blob: "a" }, output: { status: 202 } };
  const tagged: Step = {
    input: { action: "tag", blob: "a", color: "red" },
    output: { status: 204 },
  };
  const unknown: Step = { input: { action: "put", blob: "b", color: "red" } };

  it("accepts what each moment shows", () => {
    const both = [put("a", "red"), put("b", "red"), found("red", "a", "b")];
    expect(problemsOf(...both, removed, found("red", "b"), found("blue"))).toEqual([]);
    expect(problemsOf(put("a", "blue"), tagged, found("blue"), found("red", "a"))).toEqual([]);
    expect(problemsOf(unknown, found("red"), found("red", "b"))).toEqual([]);
  });

  it("rejects an absent, a late and a removed entry", () => {
    expect(problemsOf(put("a", "red"), found("red"))).not.toEqual([]);
    expect(problemsOf(put("a", "blue"), tagged, found("blue", "a"))).not.toEqual([]);
    expect(problemsOf(put("a", "red"), removed, found("red", "a"))).not.toEqual([]);
    expect(problemsOf(unknown, found("red", "b"), found("red"))).not.toEqual([]);
    expect(problemsOf(tagged)).not.toEqual([]);
  });
});

describe("the checker of access policies", () => {
  const problemsOf = (...steps: readonly Step[]) => checkAccessPolicies(inTurn(steps));
  const step = (action: string, status: number): Step => ({
    input: { action },
    output: { status },
  });

  it("accepts signatures while their policy is stored", () => {
    const permitted = [step("permit", 200), step("read", 200), step("write", 201)];
    expect(problemsOf(step("read", 403), ...permitted)).toEqual([]);
    const refused = [step("revoke", 200), step("permit", 403), step("write", 403)];
    expect(problemsOf(...permitted, ...refused)).toEqual([]);
    expect(problemsOf({ input: { action: "permit" } }, step("read", 403))).toEqual([]);
  });

  it("rejects a revoked signature that is used, and a valid one that is not", () => {
    const permitted = [step("permit", 200), step("read", 200)];
    expect(problemsOf(...permitted, step("revoke", 200), step("read", 200))).not.toEqual([]);
    expect(problemsOf(...permitted, step("write", 403))).not.toEqual([]);
  });
});

describe("the checker of batches of locks", () => {
  const problemsOf = (...steps: readonly Step[]) => checkLockBatches(inTurn(steps));
  const locked = (owner: string, ...parts: readonly number[]): Step => ({
    input: { action: "lock", owner, parts },
    output: { status: 200 },
  });
  const refused = (owner: string, ...parts: readonly number[]): Step => ({
    input: { action: "lock", owner, parts },
    output: { status: 409, code: "FileLockConflict" },
  });
  const unlocked = (owner: string, ...parts: readonly number[]): Step => ({
    input: { action: "unlock", owner, parts },
    output: { status: 200 },
  });
  const closed = (owner: string): Step => ({
    input: { action: "close", owner },
    output: { status: 200 },
  });

  it("accepts all or none of a batch, until its handle ends", () => {
    expect(
      problemsOf(
        locked("a", 0, 1),
        refused("b", 3, 1),
        locked("c", 3),
        unlocked("a", 1),
        locked("d", 1, 2),
        closed("a"),
        locked("e", 0),
      ),
    ).toEqual([]);
    expect(problemsOf(locked("a", 0), locked("b", 0))).toEqual([]);
  });

  it("rejects a lock of what another client has, and a part of a refused batch", () => {
    const opened = [locked("a", 0), locked("b", 0), unlocked("a", 0)];
    expect(problemsOf(...opened)).not.toEqual([]);
    const kept = [locked("a", 1), refused("b", 3, 1), refused("c", 3), closed("a"), closed("c")];
    expect(problemsOf(...kept)).not.toEqual([]);
  });
});
