import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DialectWithTransactions } from "../../operation/dialect.ts";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { PartResponseWriter, type Reply } from "./change-set.ts";

const order = ["A", "B", "ETag", "C"];
const dialect = {
  etagHeaders: (newETag: bigint) => ({ ETag: `"${newETag}"` }),
  transaction: {
    partHeaders: (answer: PartResponseWriter, name: (name: string, value: string) => void) => {
      for (const each of order) {
        const value = answer.header(each);
        if (value !== undefined) name(each, value);
      }
      name("M", `${answer.method} ${answer.status}`);
    },
  },
} as unknown as DialectWithTransactions;

type Group = Record<string, string | undefined>;

function reply(headers: readonly Group[], etag?: bigint): Reply {
  const nothing = { metadata: undefined, body: undefined, reader: undefined };
  return { kind: "reply", status: 204, headers, etag, ...nothing };
}

function written(...replies: readonly Reply[]): string {
  const out = new TextBytes();
  const writer = new PartResponseWriter(dialect, out);
  for (const each of replies) writer.write("POST", each);
  return out.text();
}

const start = "HTTP/1.1 204 No Content\r\n";
const end = "M: POST 204\r\n\r\n";

describe("the responses of a transaction", () => {
  it("have shared and individual headers", () => {
    const answers = ["1", "1", "1", "2", "2"].map((b) => reply([{ A: "same" }, { B: b }], 7n));
    const expected = ["1", "1", "1", "2", "2"].map(
      (b) => `${start}A: same\r\nB: ${b}\r\nETag: "7"\r\n${end}`,
    );
    expect(written(...answers)).toBe(expected.join(""));
  });

  it("may have other headers than the preceding one, in other positions", () => {
    const answers = [reply([{ A: "x", B: "x" }], 1n), reply([{ B: "x" }], 2n), reply([{ A: "x" }])];
    expect(written(...answers)).toBe(
      [
        `${start}A: x\r\nB: x\r\nETag: "1"\r\n${end}`,
        `${start}B: x\r\nETag: "2"\r\n${end}`,
        `${start}A: x\r\n${end}`,
      ].join(""),
    );
  });

  it("do not depend on each other", () => {
    const value = fc.option(fc.constantFrom("1", "2"), { nil: undefined });
    const group = fc.record({ A: value, B: value, C: value });
    const newETag = fc.option(fc.constantFrom(1n, 2n), { nil: undefined });
    const answer = fc.tuple(fc.array(group, { maxLength: 2 }), newETag);
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 12 }), (answers) => {
        const replies = answers.map(([groups, etag]) => reply(groups, etag));
        expect(written(...replies)).toBe(replies.map((each) => written(each)).join(""));
      }),
    );
  });

  it("take the last value of a header", () => {
    const groups = [{ A: "early", ETag: undefined }, { A: "late" }, { A: undefined }];
    expect(written(reply(groups, 3n))).toBe(`${start}A: late\r\nETag: "3"\r\n${end}`);
  });
});
