import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Slice } from "../content-ref.ts";
import { decodeNode, encodeNode } from "./node-codec.ts";
import { cutByCost, nodeBytesMax, sliceCost, type Node } from "./node.ts";
import { RegionAllocator } from "../extents/regions.ts";

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const position = fc.integer({ min: 0, max: 2 ** 45 });
const stored = fc.record(
  { extent: uint64, offset: position, crc64: uint64 },
  { requiredKeys: ["extent", "offset"] },
);
const cipher = fc.record(
  { nonce: uint64, at: position, scope: fc.constantFrom("7/first/salt", "7/other/salt") },
  { requiredKeys: ["nonce", "at"] },
);
const entry = fc.record({
  gap: position,
  length: fc.integer({ min: 1, max: 2 ** 40 }),
  source: fc.oneof(stored, fc.uint8Array({ minLength: 1, maxLength: 300 })),
  cipher: fc.option(cipher, { nil: undefined }),
  block: fc.option(fc.string({ unit: "grapheme", maxLength: 20 }), { nil: undefined }),
});

const leaf = fc.array(entry, { maxLength: 30 }).map((entries): Node => {
  let end = 0;
  const slices = entries.map(({ gap, length, source, cipher: used, block }): Slice => {
    const inline = source instanceof Uint8Array;
    const at = end + gap;
    const count = inline ? source.length : length;
    end = at + count;
    const bytes = inline ? { bytes: source } : source;
    const encrypted = used === undefined ? bytes : ({ ...bytes, cipher: used } as Slice["source"]);
    const slice = { at, length: count, source: encrypted };
    return block === undefined ? slice : { ...slice, block };
  });
  return { kind: "leaf", slices };
});

const inner = fc.array(fc.tuple(position, uint64), { maxLength: 50 }).map((entries): Node => {
  let first = 0;
  return { kind: "inner", children: entries.map(([gap, id]) => ({ first: (first += gap), id })) };
});

describe("a node", () => {
  test("decodes to an equal node", () => {
    fc.assert(
      fc.property(fc.oneof(leaf, inner), (node) => {
        expect(decodeNode(encodeNode(node))).toEqual(node);
      }),
    );
  });

  test("of a newer version is rejected", () => {
    expect(() => decodeNode(Uint8Array.of(3, 0, 0, 0))).toThrow("version 3");
  });

  test("filled to the limit fits half a page", () => {
    const slices = Array.from({ length: 1000 }, (_, index) => ({
      at: index * 4096,
      length: 512,
      source: { extent: BigInt(index % 3), offset: index * 1_000_003 },
    }));
    const [first] = cutByCost(slices, sliceCost, { costMax: nodeBytesMax, packed: true });
    const size = encodeNode({ kind: "leaf", slices: first ?? [] }).length;
    expect(size).toBeLessThan(4000);
    expect(size).toBeGreaterThan(2000);
  });
});

describe("cutting by cost", () => {
  test("loses nothing, keeps order and stays below the limit", () => {
    const costs = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 200 });
    fc.assert(
      fc.property(costs, fc.boolean(), (items, packed) => {
        const groups = cutByCost(items, (item) => item, { costMax: 100, packed });
        expect(groups.flat()).toEqual(items);
        for (const group of groups) {
          expect(group.length).toBeGreaterThan(0);
          expect(group.reduce((sum, item) => sum + item, 0)).toBeLessThanOrEqual(100);
        }
      }),
    );
  });
});

describe("regions of an extent", () => {
  test.each([1, 64])("of blocks of %i bytes never overlap, and all are freed", (blockBytes) => {
    const request = fc.record({ take: fc.integer({ min: 1, max: 200 }), freedIndex: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const regions = new RegionAllocator(2000, blockBytes);
        const allocated: { offset: number; length: number }[] = [];
        for (const { take, freedIndex } of requests) {
          const region = regions.allocate(take);
          for (const other of region === undefined ? [] : allocated) {
            const apart =
              other.offset + other.length <= (region?.offset ?? 0) ||
              (region?.offset ?? 0) + take <= other.offset;
            expect(apart).toBe(true);
          }
          expect((region?.offset ?? 0) % blockBytes).toBe(0);
          if (region !== undefined) allocated.push(region);
          const [back] = allocated.splice(freedIndex, 1);
          if (back !== undefined) regions.free(back);
        }
        for (const region of allocated) regions.free(region);
        expect(regions.tail).toBe(0);
      }),
    );
  });
});
