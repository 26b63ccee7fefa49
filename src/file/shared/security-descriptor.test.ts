import { describe, expect, it } from "vitest";
import { fileInRootSddl, isSddl, rootSddl } from "./sddl.ts";
import { sddlFromBinary, sddlToBinary } from "./descriptor-bytes.ts";

const samples = [
  rootSddl,
  fileInRootSddl,
  "O:SYG:SYD:(A;OICIIOID;SDGXGWGR;;;AU)",
  "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-" +
    "1887927527-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-" +
    "188441444-3053964)",
  "O:BAG:SYD:PAI(D;OICI;FR;;;WD)(A;OICIIO;GA;;;CO)S:(AU;SAFA;FA;;;WD)",
];

describe("permissions", () => {
  it("are the same after encoding and decoding", () => {
    for (const sample of samples) {
      const binary = sddlToBinary(sample);
      expect(sddlFromBinary(binary ?? "")).toBe(sample);
    }
  });

  it("have the layout of [MS-DTYP] 2.4.6, in the order of the service", () => {
    const bytes = Buffer.from(sddlToBinary("O:SYG:SYD:(A;;FA;;;WD)") ?? "", "base64");
    expect(bytes.toString("hex")).toBe(
      "01001480300000003c0000000000000014000000" +
        "02001c0001000000" +
        "00001400ff011f00010100000000000100000000" +
        "010100000000000512000000" +
        "010100000000000512000000",
    );
  });

  it("are rejected if malformed", () => {
    const bad = ["invalidPermission", "", "O:SYG:SY", "O:SYG:SYD:(A;;FA;;)", "D:(A;;FA;;;SY)"];
    expect(bad.filter((text) => isSddl(text))).toEqual([]);
    expect(samples.every((text) => isSddl(text))).toBe(true);
    expect(sddlFromBinary(Buffer.from([1, 0, 4, 128, 20, 0]).toString("base64"))).toBeUndefined();
    expect(sddlFromBinary(Buffer.alloc(64).toString("base64"))).toBeUndefined();
  });
});
