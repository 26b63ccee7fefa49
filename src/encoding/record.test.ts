import { describe, expect, it } from "vitest";
import { RecordTooNew, recordCodec } from "./table.ts";

interface Sample {
  readonly name: string;
  readonly size: number;
  readonly ticks: bigint;
  readonly body: Uint8Array;
  readonly absent?: string | undefined;
  readonly nested: readonly { readonly flag: boolean; readonly none: null }[];
}

const codec = recordCodec<Sample>({ version: 1 });
const sample: Sample = {
  name: "näme",
  size: 2 ** 40,
  ticks: 638_000_000_000_000_000n,
  body: new Uint8Array([1, 2, 3]),
  nested: [{ flag: true, none: null }],
};

describe("recordCodec", () => {
  it("decodes to equal records, with integers and bytes of the same type", () => {
    const back = codec.decode(codec.encode(sample));
    expect(back).toEqual(sample);
    expect(back.body.constructor).toBe(Uint8Array);
    expect(typeof back.size).toBe("number");
    expect(typeof back.ticks).toBe("bigint");
  });

  it("decodes small and negative big integers as big integers", () => {
    const bigs = recordCodec<readonly bigint[]>({ version: 1 });
    const values = [0n, -1n, 5n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n];
    expect(bigs.decode(bigs.encode(values))).toEqual(values);
  });

  it("omits undefined fields", () => {
    const back = codec.decode(codec.encode({ ...sample, absent: undefined }));
    expect("absent" in back).toBe(false);
  });

  it("starts with the version", () => {
    expect(recordCodec({ version: 7 }).encode({ a: 1 })[0]).toBe(7);
  });

  it("decodes byte fields without copying them", () => {
    const bodies = recordCodec<{ body: Uint8Array }>({ version: 1 });
    const bytes = bodies.encode({ body: new Uint8Array([1, 2, 3]) });
    const back = bodies.decode(bytes);
    expect([...back.body]).toEqual([1, 2, 3]);
    expect(back.body.buffer).toBe(bytes.buffer);
  });

  it("does not overwrite bytes it returned earlier", () => {
    const first = codec.encode(sample);
    const before = first.slice();
    codec.encode({ ...sample, name: "another" });
    expect(first).toEqual(before);
  });

  it("migrates step by step", () => {
    const old = recordCodec<{ a: number }>({ version: 1 });
    const current = recordCodec<{ c: number }>({
      version: 3,
      migrate: {
        1: (record: { a: number }) => ({ b: record.a + 1 }),
        2: (record: { b: number }) => ({ c: record.b * 10 }),
      },
    });
    expect(current.decode(old.encode({ a: 4 }))).toEqual({ c: 50 });
  });

  it("rejects a newer version and a gap in the migrations", () => {
    const newer = recordCodec<object>({ version: 2 });
    expect(() => codec.decode(newer.encode({}))).toThrow(RecordTooNew);
    expect(() => newer.decode(codec.encode(sample))).toThrow("no migration");
  });
});
