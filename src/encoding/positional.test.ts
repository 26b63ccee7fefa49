import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromValues, positionsOf, toValues } from "./table.ts";

interface Sample {
  readonly first: number;
  readonly second?: string | undefined;
  readonly inner?: { readonly a?: bigint | undefined; readonly b?: boolean | undefined };
  readonly last?: Uint8Array | undefined;
}

const positions = positionsOf<Sample>({
  first: true,
  second: true,
  inner: { a: true, b: true },
  last: true,
});

describe("records by position", () => {
  it("decode to equal records, without undefined fields", () => {
    const sample = fc.record(
      {
        first: fc.integer(),
        second: fc.string(),
        inner: fc.record({ a: fc.bigInt(), b: fc.boolean() }, { requiredKeys: [] }),
        last: fc.uint8Array(),
      },
      { requiredKeys: ["first"] },
    );
    fc.assert(
      fc.property(sample, (record) => {
        expect(fromValues(positions, toValues(positions, record))).toEqual(record);
      }),
    );
  });

  it("end with the last defined field", () => {
    expect(toValues(positions, { first: 1 })).toEqual([1]);
    expect(toValues(positions, { first: 1, inner: { b: true } })).toEqual([1, null, [null, true]]);
  });
});
