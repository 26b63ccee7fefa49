import { describe, expect, it } from "vitest";
import { inheritedSddl } from "./inherited-sddl.ts";
import { fileInRootSddl, rootSddl } from "./sddl.ts";

const from = (entry: string) => `O:BAG:BAD:PAI${entry}S:NO_ACCESS_CONTROL`;
const to = (entries: string) => `O:SYG:SYD:${entries}`;

describe("an inherited permission", () => {
  it.each<[string, "directory" | "file", string, string | undefined]>([
    ["the root's, by a directory: itself (recorded)", "directory", rootSddl, rootSddl],
    ["the root's, by a file (recorded)", "file", rootSddl, fileInRootSddl],
    ["for directories only", "directory", from("(A;CI;FA;;;BU)"), to("(A;CI;FA;;;BU)")],
    ["for directories only, by a file", "file", from("(A;CI;FA;;;BU)"), undefined],
    ["for files only", "file", from("(A;OI;FA;;;BU)"), to("(A;;FA;;;BU)")],
    ["for files only, by a directory", "directory", from("(A;OI;FA;;;BU)"), to("(A;OIIO;FA;;;BU)")],
    ["once only, by a directory", "directory", from("(A;OICINP;GR;;;BU)"), to("(A;;FR;;;BU)")],
    ["once only, for files below", "directory", from("(A;OINP;FA;;;BU)"), undefined],
    ["inherited itself", "directory", from("(A;OICIID;FA;;;BU)"), to("(A;OICI;FA;;;BU)")],
    ["of the creating group", "file", from("(A;OIIO;GA;;;CG)"), to("(A;;FA;;;SY)")],
    ["a refusal", "file", from("(D;OICI;GXGW;;;WD)"), to("(D;;0x1201b6;;;WD)")],
    ["for the parent alone", "directory", from("(A;;FA;;;BU)"), undefined],
    ["of what is no descriptor", "directory", "nonsense", undefined],
  ])("%s", (_, kind, parent, expected) => {
    expect(inheritedSddl(parent, kind)).toBe(expected);
  });
});
