import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edm, type TypedValue } from "../edm/edm.ts";
import { matches, residualFilter } from "./evaluate.ts";
import { keyBoxes, type Box, type KeySpan } from "./key-boxes.ts";
import {
  filterDepthMax,
  parseFilter,
  filterUnitsMax,
  type Comparison,
  type Filter,
} from "./parse-filter.ts";

const entity: Readonly<Record<string, TypedValue>> = {
  PartitionKey: { type: edm.string, value: "p" },
  RowKey: { type: edm.string, value: "r" },
  text: { type: edm.string, value: "it's" },
  small: { type: edm.int32, value: 5 },
  big: { type: edm.int64, value: 9_007_199_254_740_993n },
  half: { type: edm.double, value: 0.5 },
  nan: { type: edm.double, value: Number.NaN },
  yes: { type: edm.boolean, value: true },
  when: { type: edm.dateTime, value: 638_000_000_000_000_001n },
  id: { type: edm.guid, value: "1c241c8d-f7b6-4b0a-abba-d9b169010038" },
  bytes: { type: edm.binary, value: new Uint8Array([1, 255]) },
};

function holds(text: string): boolean {
  const filter = parseFilter(text);
  if (!filter.ok) throw new Error(filter.fault.detail?.message ?? filter.fault.code);
  return matches(filter.value, (name) => entity[name]);
}

describe("filters", () => {
  it.each([
    "text eq 'it''s'",
    "small eq 5 and small ge 5 and small lt 6",
    "5 eq small and 4 lt small",
    "small eq 5L and small eq 5.0 and small eq 5",
    "big eq 9007199254740993L and big ne 9007199254740992L",
    "half gt -1 and half lt 1e0 and half eq .5",
    "yes and yes eq true and not (yes eq false)",
    "not (missing eq 1)",
    "not missing",
    "id eq guid'1C241C8D-F7B6-4B0A-ABBA-D9B169010038'",
    "bytes eq X'01FF' and bytes eq binary'01ff' and bytes gt X'01'",
    "when gt datetime'2022-01-01T00:00:00Z'",
    "(PartitionKey eq 'p') and ((RowKey eq 'x') or (RowKey eq 'r'))",
    "small eq 1 and small eq 2 or small eq 5",
    "small eq 5 or small eq 1 and small eq 2",
  ])("%s", (text) => {
    expect(holds(text)).toBe(true);
  });

  it.each([
    "missing ne 1",
    "missing eq null",
    "text eq 5",
    "text ne 5",
    "small eq '5'",
    "nan eq 0.0",
    "nan lt 1",
    "text",
    "id ne '1c241c8d-f7b6-4b0a-abba-d9b169010038'",
  ])("not: %s", (text) => {
    expect(holds(text)).toBe(false);
  });

  it.each([
    ["aaa bbb ccc", "Syntax error at position 7 in 'aaa bbb ccc'."],
    ["a eq", "Syntax error at position 4 in 'a eq'."],
    ["(a eq 1", "Syntax error at position 7 in '(a eq 1'."],
    ["a eq 1)", "Syntax error at position 7 in 'a eq 1)'."],
    ["a eq 'x", "Syntax error at position 5 in 'a eq 'x'."],
    ["a eq guid'no'", "Syntax error at position 13 in 'a eq guid'no''."],
    ["a eq 1 and", "Syntax error at position 10 in 'a eq 1 and'."],
    ["a & b", "Syntax error at position 2 in 'a & b'."],
  ])("refuses %s", (text, message) => {
    expect(parseFilter(text)).toMatchObject({ ok: false, fault: { detail: { message } } });
  });

  it("rejects functions and nesting beyond the limit", () => {
    expect(parseFilter("startswith(a, 'b')")).toMatchObject({ fault: { code: "NotImplemented" } });
    const deep = "(".repeat(filterDepthMax + 2) + "a" + ")".repeat(filterDepthMax + 2);
    expect(parseFilter(deep)).toMatchObject({ fault: { code: "InvalidInput" } });
    expect(parseFilter("not ".repeat(50_000))).toMatchObject({ ok: false });
  });

  it("accepts the longest chain that the length limit allows", () => {
    const chain = parseFilter("a or ".repeat(filterUnitsMax / 5 - 1) + "yes");
    expect(chain.ok && matches(chain.value, (name) => entity[name])).toBe(true);
    expect(chain.ok && keyBoxes(chain.value)).toHaveLength(1);
  });

  it("never throws on any text", () => {
    const words = fc.constantFrom(
      "(",
      ")",
      "and",
      "not",
      "eq",
      "a",
      "'x'",
      "1",
      "L",
      "'",
      " ",
      "X'",
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(words, { maxLength: 30 }).map((parts) => parts.join(" ")),
    );
    fc.assert(
      fc.property(text, (filter) => {
        const parsed = parseFilter(filter);
        if (parsed.ok) matches(parsed.value, (name) => entity[name]);
      }),
    );
  });
});

const key = fc.constantFrom("", "a", "b", "ba", "c", "\uFFFF", "\u{1F600}");
const comparison = fc.constantFrom<Comparison>("eq", "ne", "gt", "ge", "lt", "le");
const { tree } = fc.letrec<{ tree: Filter }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({
      kind: fc.constant("compare" as const),
      comparison,
      left: fc.record({
        kind: fc.constant("property" as const),
        name: fc.constantFrom("PartitionKey", "RowKey", "text"),
      }),
      right: key.map((value) => ({
        kind: "literal" as const,
        literal: { type: edm.string, value } as TypedValue,
      })),
    }),
    fc.record({
      kind: fc.constantFrom("and" as const, "or" as const),
      left: tie("tree"),
      right: tie("tree"),
    }),
    fc.record({ kind: fc.constant("not" as const), inner: tie("tree") }),
  ),
}));

function write(filter: Filter): string {
  switch (filter.kind) {
    case "and":
    case "or":
      return `(${write(filter.left)}) ${filter.kind} (${write(filter.right)})`;
    case "not":
      return `not (${write(filter.inner)})`;
    case "value":
      return "";
    case "compare": {
      const { left, right } = filter;
      const name = left.kind === "property" ? left.name : "";
      const value = right.kind === "literal" ? String(right.literal?.value) : "";
      return `${name} ${filter.comparison} '${value}'`;
    }
  }
}

/** What the service's documents say, written down as naively as possible. */
function naive(filter: Filter, values: Readonly<Record<string, string>>): boolean {
  if (filter.kind === "and") return naive(filter.left, values) && naive(filter.right, values);
  if (filter.kind === "or") return naive(filter.left, values) || naive(filter.right, values);
  if (filter.kind === "not") return !naive(filter.inner, values);
  if (filter.kind !== "compare" || filter.left.kind !== "property") return false;
  if (filter.right.kind !== "literal") return false;
  const left = values[filter.left.name] ?? "";
  const right = String(filter.right.literal?.value);
  const verdicts = {
    eq: left === right,
    ne: left !== right,
    gt: left > right,
    ge: left >= right,
    lt: left < right,
    le: left <= right,
  };
  return verdicts[filter.comparison];
}

const inSpan = ({ low, high }: KeySpan, value: string) =>
  (low === undefined || value > low.key || (low.included && value === low.key)) &&
  (high === undefined || value < high.key || (high.included && value === high.key));
const inBox = (box: Box, values: Readonly<Record<string, string>>) =>
  inSpan(box.partitions, values["PartitionKey"] ?? "") && inSpan(box.rows, values["RowKey"] ?? "");

describe("filters compared with a naive evaluator", () => {
  it("give the same results, and match only entities inside their boxes", () => {
    fc.assert(
      fc.property(tree, key, key, key, (filter, PartitionKey, RowKey, text) => {
        const values = { PartitionKey, RowKey, text };
        const expected = naive(filter, values);
        const parsed = parseFilter(write(filter));
        expect(parsed.ok).toBe(true);
        if (!parsed.ok) return;
        const read = (name: string): TypedValue => ({
          type: edm.string,
          value: values[name as keyof typeof values],
        });
        expect(matches(parsed.value, read)).toBe(expected);
        const boxes = keyBoxes(filter);
        const isReached = boxes.some((box) => inBox(box, values));
        if (expected) expect(isReached).toBe(true);
        const left = residualFilter(filter, boxes);
        if (isReached) expect(left === undefined || matches(left, read)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("leave no test for the partition if they name one partition", () => {
    const left = (text: string) => {
      const parsed = parseFilter(text);
      return parsed.ok ? residualFilter(parsed.value, keyBoxes(parsed.value)) : "refused";
    };
    const rest = parseFilter("x eq 1");
    expect(left("PartitionKey eq 'a' and x eq 1")).toEqual(rest.ok && rest.value);
    expect(left("x eq 1 and (PartitionKey eq 'a')")).toEqual(rest.ok && rest.value);
    expect(left("PartitionKey eq 'a'")).toBeUndefined();
    expect(left("PartitionKey eq 'a' or x eq 1")).toMatchObject({ kind: "or" });
    const nested = left("PartitionKey eq 'a' and (PartitionKey eq 'a' or x eq 1)");
    expect(nested).toMatchObject({ kind: "or", left: { kind: "compare" } });
    expect(left("not (PartitionKey eq 'a')")).toMatchObject({ kind: "not" });
  });

  it("give one box for a point and one for a prefix", () => {
    const boxes = (text: string) => {
      const parsed = parseFilter(text);
      return parsed.ok ? keyBoxes(parsed.value) : undefined;
    };
    const point = { low: { key: "a", included: true }, high: { key: "a", included: true } };
    expect(boxes("PartitionKey eq 'a' and RowKey eq 'a'")).toEqual([
      { partitions: point, rows: point },
    ]);
    expect(boxes("not (PartitionKey lt 'a' or PartitionKey ge 'b') and x eq 1")).toEqual([
      { partitions: { low: point.low, high: { key: "b", included: false } }, rows: {} },
    ]);
    expect(boxes("PartitionKey eq 'a' and PartitionKey eq 'b'")).toEqual([]);
  });
});
