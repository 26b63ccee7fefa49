import { expect, it } from "vitest";
import { historyText, parseHistoryText } from "./history-file.ts";
import type { Operation } from "./history.ts";
import { workloads } from "./workloads/all.ts";

const about = { source: "verify", seed: 7, complete: true };
const operations: readonly Operation[] = [
  {
    id: "c1-0-2.17",
    workload: "entity register",
    key: "r0-1",
    input: { action: "swap", value: "x", etag: '"1"' },
    output: { status: 204, etag: '"2"' },
    called: 5,
    returned: 9,
  },
  {
    id: "c1-0-2.18",
    workload: "lease",
    key: "l0",
    input: { action: "break" },
    output: undefined,
    called: 10,
    returned: Infinity,
  },
];

it("a stored history is read as it was recorded", () => {
  const read = parseHistoryText(historyText(about, operations, workloads));
  expect(read.operations).toEqual(operations);
  expect(read.header).toEqual({ format: "etagere-history", version: 1, ...about });
});

it("a line has what docs/HISTORY-FORMAT.md says", () => {
  const [, first = "", second = ""] = historyText(about, operations, workloads).split("\n");
  expect(JSON.parse(first)).toEqual({
    id: "c1-0-2.17",
    process: "c1-0-2",
    service: "table",
    workload: "entity register",
    key: "r0-1",
    operation: "swap",
    arguments: { value: "x", etag: '"1"' },
    outcome: "answered",
    result: { status: 204, etag: '"2"' },
    called: 5,
    returned: 9,
  });
  expect(JSON.parse(second)).toMatchObject({ outcome: "unknown", result: null, returned: null });
});

it("another format is refused", () => {
  expect(() => parseHistoryText('{"format":"etagere-history","version":2}\n')).toThrow("version 1");
});
