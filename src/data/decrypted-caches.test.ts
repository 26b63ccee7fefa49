import { expect, it } from "vitest";
import { decryptedCaches } from "./storage-backends.ts";

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

it.each([
  [64 * gibibyte, 1, 64, 192],
  [4 * gibibyte, 1, 32, 96],
  [4 * gibibyte, 2, 16, 48],
  [512 * mebibyte, 4, 8, 24],
])("of %i bytes of memory for %i processes", (memory, processes, records, chunks) => {
  expect(decryptedCaches(memory, processes)).toEqual({
    recordBytesMax: records * mebibyte,
    chunkBytesMax: chunks * mebibyte,
  });
});
