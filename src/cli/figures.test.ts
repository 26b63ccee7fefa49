import { expect, it } from "vitest";
import { columnsOf, contentText, sizeText } from "./progress.ts";

it.each([
  [undefined, 120],
  [0, 120],
  [-1, 120],
  [72, 72],
])("uses the width %s of a terminal as %i columns", (columns, expected) => {
  expect(columnsOf({ columns }, 120)).toBe(expected);
});

it.each([
  [0, "0 bytes"],
  [1023, "1023 bytes"],
  [1024, "1.0 KiB"],
  [1_572_864, "1.5 MiB"],
  [2 ** 62, "4096.0 PiB"],
])("prints %i bytes as %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

it("prints contents with their size", () => {
  const text = contentText({ contents: 5002, contentBytes: 2_560_512 });
  expect(text).toBe("5,002 contents with 2.4 MiB");
});
