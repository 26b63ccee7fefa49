import { describe, expect, it } from "vitest";
import { decryptedCaches } from "./storage-backends.ts";

const gibibyte = 1024 ** 3;
const mebibyte = 1024 ** 2;

describe("the limits of decrypted bytes in memory", () => {
  it.each([
    [64 * gibibyte, 1, 64, 192],
    [64 * gibibyte, 16, 4, 12],
    [64 * gibibyte, 64, 2, 6],
    [4 * gibibyte, 1, 32, 96],
    [4 * gibibyte, 2, 16, 48],
    [512 * mebibyte, 1, 4, 12],
    [512 * mebibyte, 4, 2, 6],
  ])("are shares of %i bytes for one of %i workers", (memory, workerCount, records, chunks) => {
    expect(decryptedCaches(memory, workerCount)).toEqual({
      recordBytesMax: records * mebibyte,
      chunkBytesMax: chunks * mebibyte,
    });
  });
});
