import { describe, expect, it } from "vitest";
import type { NodeRecord, ShareRecord } from "../records.ts";
import { inheritPermission } from "./inherited-permission.ts";
import { keyOfText } from "./sddl.ts";

const share = { id: 1n } as ShareRecord;

function inherited(parentSddl: string, kind: "directory" | "file") {
  const parent = { permissionKey: keyOfText(parentSddl) } as NodeRecord;
  return inheritPermission({ share, parent, kind, parentSddl });
}

const own = "O:BAG:SYD:P(A;OICI;FA;;;BA)";
const ofDirectory = "O:SYG:SYD:(A;OICI;FA;;;BA)";

describe("an inherited permission", () => {
  it("is stored if it differs from the parent's", () => {
    const { key, effects } = inherited(own, "directory");
    expect([key, effects.length]).toEqual([keyOfText(ofDirectory), 1]);
  });

  it("is not stored again if it is the parent's, which concurrent creates read", () => {
    const { key, effects } = inherited(ofDirectory, "directory");
    expect([key, effects]).toEqual([keyOfText(ofDirectory), []]);
  });
});
