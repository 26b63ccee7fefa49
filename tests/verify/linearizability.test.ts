import { describe, expect, it } from "vitest";
import type { Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";

type Input = { readonly put: string } | { readonly get: true };
interface Output {
  readonly seen?: string;
}

const register: Model<Input, Output> = {
  initial: "0",
  step(state, input, output) {
    if ("put" in input) return input.put;
    return output === undefined || output.seen === state ? state : undefined;
  },
};

let ids = 0;

function put(value: string, called: number, returned: number): Operation<Input, Output> {
  return operation({ put: value }, called, returned, returned === Infinity ? undefined : {});
}

function get(seen: string, called: number, returned: number): Operation<Input, Output> {
  return operation({ get: true }, called, returned, { seen });
}

function operation(input: Input, called: number, returned: number, output: Output | undefined) {
  ids += 1;
  return { id: String(ids), workload: "w", key: "k", input, output, called, returned };
}

const never = Infinity;

describe("a linearizable history", () => {
  it.each<readonly [string, readonly Operation<Input, Output>[]]>([
    ["nothing", []],
    ["one after the other", [put("1", 0, 1), get("1", 2, 3)]],
    ["a read beside a write sees the old", [put("1", 0, 10), get("0", 2, 3)]],
    ["or the new", [put("1", 0, 10), get("1", 2, 3)]],
    ["two readers beside a write, in turn", [put("1", 0, 10), get("0", 1, 2), get("1", 3, 4)]],
    ["no answer, and it happened", [put("1", 0, never), get("1", 2, 3)]],
    ["no answer, and it did not", [put("1", 0, never), get("0", 2, 3)]],
    ["or much later", [put("1", 0, never), put("2", 1, 2), get("2", 3, 4), get("1", 5, 6)]],
    ["the same microsecond counts as overlap", [put("1", 0, 5), get("0", 5, 6)]],
  ])("%s", (_what, operations) => {
    expect(checkLinearizable(register, operations).kind).toBe("linearizable");
  });
});

describe("a history that is not linearizable", () => {
  it.each<readonly [string, readonly Operation<Input, Output>[]]>([
    ["a stale read", [put("1", 0, 1), get("0", 2, 3)]],
    ["a read that goes back", [put("1", 0, 10), get("1", 1, 2), get("0", 3, 4)]],
    ["a value from nowhere", [get("7", 0, 1)]],
    ["a lost write", [put("1", 0, 1), put("2", 2, 3), get("1", 4, 5)]],
    [
      "an unknown write that comes and goes",
      [put("1", 0, never), get("1", 1, 2), get("0", 3, 4), get("1", 5, 6)],
    ],
  ])("%s", (_what, operations) => {
    expect(checkLinearizable(register, operations).kind).toBe("impossible");
  });

  it("reports where the search got stuck", () => {
    const verdict = checkLinearizable(register, [put("1", 0, 1), get("1", 2, 3), get("0", 4, 5)]);
    expect(verdict).toMatchObject({ kind: "impossible", explained: 2, state: "1" });
  });
});

describe("the search", () => {
  /** Overlapping writes, and reads that see them in turn: 10! orders, of which few are tried. */
  it("remembers visited states", () => {
    const values = Array.from({ length: 10 }, (_, index) => String(index + 1));
    const writes = values.map((value) => put(value, 0, 1000));
    const reads = values.toReversed().map((value, index) => get(value, 1 + index, 1.5 + index));
    expect(checkLinearizable(register, [...writes, ...reads], 500_000).kind).toBe("linearizable");
  });

  it("reports that it gave up", () => {
    const writes = Array.from({ length: 20 }, (_, index) => put(`w${index}`, 0, 1000));
    const history = [...writes, get("nothing", 2000, 2001)];
    expect(checkLinearizable(register, history, 10_000).kind).toBe("undecided");
  });
});
