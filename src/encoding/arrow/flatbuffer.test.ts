import { describe, expect, it } from "vitest";
import { writeFlatBuffer, type FlatField } from "./flatbuffer.ts";

/** Offset of a slot of the root table; `undefined` if it has its default. */
function slotOf(view: DataView, slot: number): number | undefined {
  const table = view.getUint32(0, true);
  const index = table - view.getInt32(table, true);
  if (4 + 2 * slot >= view.getUint16(index, true)) return undefined;
  const offset = view.getUint16(index + 4 + 2 * slot, true);
  return offset === 0 ? undefined : table + offset;
}

function write(...fields: readonly (FlatField | undefined)[]): DataView {
  const bytes = writeFlatBuffer({ kind: "table", fields });
  expect(bytes.length % 8).toBe(0);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function follow(view: DataView, at: number): number {
  return at + view.getUint32(at, true);
}

describe("a FlatBuffer", () => {
  it("aligns numbers to their size and omits defaults", () => {
    const view = write({ bytes: 1, value: 7 }, undefined, { bytes: 8, value: -2 }, undefined);
    expect(view.getUint8(slotOf(view, 0) ?? 0)).toBe(7);
    expect(slotOf(view, 1)).toBeUndefined();
    const long = slotOf(view, 2) ?? 0;
    expect([long % 8, view.getBigInt64(long, true)]).toEqual([0, -2n]);
  });

  // The verifiers of other languages reject any other alignment; the JavaScript reader does not
  // check.
  it.each(["", "1", "12", "123", "1234", "12345", "123456", "1234567"])(
    "aligns structs to 8 bytes after the text %j",
    (text) => {
      const items = [
        [1, 2],
        [3, 4],
      ];
      const view = write({ to: { kind: "text", text } }, { to: { kind: "structs", items } });
      const at = follow(view, slotOf(view, 1) ?? 0);
      expect([view.getUint32(at, true), (at + 4) % 8]).toEqual([2, 0]);
      const numbers = [0, 1, 2, 3].map((index) => view.getBigInt64(at + 4 + 8 * index, true));
      expect(numbers).toEqual([1n, 2n, 3n, 4n]);
      const name = follow(view, slotOf(view, 0) ?? 0);
      expect([view.getUint32(name, true), view.getUint8(name + 4 + text.length)]).toEqual([
        text.length,
        0,
      ]);
    },
  );

  it("grows its buffer for long texts", () => {
    const text = "é".repeat(5000);
    const view = write({ to: { kind: "text", text } });
    const at = follow(view, slotOf(view, 0) ?? 0);
    const bytes = new Uint8Array(view.buffer, at + 4, view.getUint32(at, true));
    expect(new TextDecoder().decode(bytes)).toBe(text);
  });
});
