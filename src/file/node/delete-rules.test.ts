import { describe, expect, it } from "vitest";
import { Right } from "../locks/access.ts";
import { rootId } from "../records.ts";
import { testDirectory, testFile, testLease } from "../../../tests/harness/file-decisions.ts";
import { deleteFaultOrder, refuseDelete } from "./delete-file.ts";
import { isLeasedAgainst } from "./set-file-properties.ts";

describe("deleting", () => {
  const file = testFile();
  const readOnly = testFile({ attributes: 0x21 });
  const directory = testDirectory();
  const readOnlyDirectory = testDirectory({ attributes: 0x11 });
  const root = testDirectory({ id: rootId });
  /** Node, whether it has children, fault over REST, fault over SMB. */
  it.each([
    [file, false, undefined, undefined],
    [readOnly, false, "read-only", "read-only"],
    [directory, false, undefined, undefined],
    [directory, true, "not-empty", "not-empty"],
    [readOnlyDirectory, false, "read-only", "read-only"],
    [readOnlyDirectory, true, "not-empty", "read-only"],
    [root, true, "root", "root"],
  ] as const)("case %#", (node, hasChildren, rest, smb) => {
    const facts = { node, hasChildren };
    expect(refuseDelete(facts, deleteFaultOrder.overRest)).toBe(rest);
    expect(refuseDelete(facts, deleteFaultOrder.overSmb)).toBe(smb);
  });
});

describe("a REST lease excludes an SMB open", () => {
  it.each([
    ["to read", Right.readData, false],
    ["to read attributes", Right.readAttributes, false],
    ["to write", Right.writeData, true],
    ["to append", Right.appendData, true],
    ["to delete", Right.delete, true],
  ])("%s: %#", (_, access, expected) => {
    expect(isLeasedAgainst(testFile({ lease: testLease }), access, 5n)).toBe(expected);
    expect(isLeasedAgainst(testFile(), access, 5n)).toBe(false);
    const broken = { ...testLease, breaksAt: 4n };
    expect(isLeasedAgainst(testFile({ lease: broken }), access, 5n)).toBe(false);
  });
});
