import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { Edit, emptyTree, treeDelete, treeGet, treePut, treeScan } from "./tree.ts";
import type { TreeNode } from "./tree.ts";

const text = fc.integer({ min: 0, max: 400 }).map((value) => String(value).padStart(3, "0"));
const step = fc.record({ isDelete: fc.boolean(), text, isNewEdit: fc.boolean() });
const everything = { start: "", end: "\uffff", reverse: false };

describe("the tree", () => {
  it("behaves like a sorted map and leaves earlier roots unchanged", () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 200, maxLength: 1200, size: "max" }),
        text,
        text,
        fc.integer({ min: 1, max: 300 }),
        (steps, from, to, countMax) => {
          const model = new Map<string, number>();
          let root: TreeNode<number> = emptyTree();
          let edit = new Edit();
          const kept: { root: TreeNode<number>; values: number[] }[] = [];
          for (const [index, each] of steps.entries()) {
            if (each.isNewEdit && index % 50 === 0) {
              kept.push({ root, values: treeScan(root, everything, Infinity) });
              edit = new Edit();
            }
            if (each.isDelete) model.delete(each.text);
            else model.set(each.text, index);
            root = each.isDelete
              ? treeDelete(root, each.text, edit)
              : treePut(root, each.text, index, edit);
          }
          const sorted = [...model].toSorted(([left], [right]) => (left < right ? -1 : 1));
          const inside = sorted.filter(([name]) => name >= from && name < to);
          const values = inside.map(([, value]) => value);
          const bounds = { start: from, end: to };
          expect(treeScan(root, everything, Infinity)).toEqual(sorted.map(([, value]) => value));
          expect(treeScan(root, { ...bounds, reverse: false }, countMax)).toEqual(
            values.slice(0, countMax),
          );
          expect(treeScan(root, { ...bounds, reverse: true }, countMax)).toEqual(
            values.toReversed().slice(0, countMax),
          );
          expect(treeGet(root, from)).toBe(model.get(from));
          for (const each of kept) {
            expect(treeScan(each.root, everything, Infinity)).toEqual(each.values);
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it("is empty again when everything was deleted", () => {
    let root: TreeNode<number> = emptyTree();
    const edit = new Edit();
    const names = Array.from({ length: 5000 }, (_, index) => String(index * 7919).padStart(9, "0"));
    for (const [index, name] of names.entries()) root = treePut(root, name, index, edit);
    expect(treeScan(root, everything, Infinity)).toHaveLength(5000);
    for (const name of names) root = treeDelete(root, name, edit);
    expect(treeScan(root, everything, Infinity)).toEqual([]);
    expect(treeGet(treePut(root, "x", 1, edit), "x")).toBe(1);
  });
});
