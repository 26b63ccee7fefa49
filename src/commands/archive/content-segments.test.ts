import { describe, expect, it } from "vitest";
import type { Slice } from "../../content/content-ref.ts";
import { changedSegments } from "./content-pieces.ts";

const slice = (at: number, length: number, extent: bigint, offset: number, block?: string): Slice =>
  block === undefined
    ? { at, length, source: { extent, offset } }
    : { at, length, source: { extent, offset }, block };

/** Each change as `from-to`, with `hole` or the extent. */
async function changes(next: readonly Slice[], base: readonly Slice[]): Promise<string[]> {
  const found: string[] = [];
  const pages = async function* (slices: readonly Slice[]) {
    for (const each of slices) yield [each];
  };
  for await (const { at, length, slice: of } of changedSegments(pages(next), pages(base))) {
    const source = of?.source;
    const stored = source !== undefined && "extent" in source ? String(source.extent) : "bytes";
    const name = of === undefined ? "hole" : stored;
    found.push(`${at}-${at + length} ${name}`);
  }
  return found;
}

const base = [slice(0, 100, 1n, 0), slice(200, 100, 1n, 100)];

describe("changed segments", () => {
  it.each<[string, readonly Slice[], readonly string[]]>([
    ["the same content", base, []],
    ["nothing left", [], ["0-100 hole", "200-300 hole"]],
    ["other bytes", [slice(0, 300, 2n, 0)], ["0-300 2"]],
    [
      "an overwritten middle",
      [slice(0, 40, 1n, 0), slice(40, 10, 2n, 0), slice(50, 50, 1n, 50), slice(200, 100, 1n, 100)],
      ["40-50 2"],
    ],
    [
      "the same bytes at another offset",
      [slice(10, 90, 1n, 0)],
      ["0-10 hole", "10-100 1", "200-300 hole"],
    ],
    ["one slice for two", [slice(0, 100, 1n, 0), slice(150, 200, 3n, 0)], ["150-350 3"]],
    [
      "a block that begins there",
      [slice(0, 100, 1n, 0, "AAAA"), slice(200, 100, 1n, 100)],
      ["0-100 1"],
    ],
    ["appended bytes", [...base, slice(300, 5, 2n, 0)], ["300-305 2"]],
  ])("of %s", async (_name, next, expected) => {
    expect(await changes(next, base)).toEqual(expected);
  });

  it("compare ciphers and bytes inside of records", async () => {
    const inside = (text: string, nonce?: bigint): Slice => ({
      at: 0,
      length: text.length,
      source: {
        bytes: Buffer.from(text),
        ...(nonce !== undefined && { cipher: { nonce, at: 0 } }),
      },
    });
    expect(await changes([inside("same")], [inside("same")])).toEqual([]);
    expect(await changes([inside("some")], [inside("same")])).toEqual(["0-4 bytes"]);
    expect(await changes([inside("same", 1n)], [inside("same", 2n)])).toEqual(["0-4 bytes"]);
    expect(await changes([inside("same", 1n)], [inside("same", 1n)])).toEqual([]);
  });
});
