import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { testCipher } from "../../../tests/harness/test-encryption.ts";
import { textOfKey } from "../../encoding/keys.ts";
import type { ValueCodec, VersionedEntry } from "../engine.ts";
import { Cipher } from "./cipher.ts";
import { recordCipher } from "./record-cipher.ts";

const kibibyte = 1024;
const rules = { plain: new Set<number>(), logs: new Set<number>() };

/** Stored entries, as another process wrote them: none is in the memory of this one. */
function stored(count: number, valueBytes: number, cipher = testCipher()): VersionedEntry[] {
  const other = recordCipher(cipher, rules);
  return Array.from({ length: count }, (_, index) => {
    const key = Buffer.from(`key ${index}`);
    const text = textOfKey(key);
    const value = other.encode(key, text, new Uint8Array(valueBytes).fill(index));
    return { key, text, value, revision: index };
  });
}

const read = (codec: ValueCodec, entry: VersionedEntry) => codec.decodeEntry(entry).value;

describe("decrypted values in memory", () => {
  it("take no more of it than their limit, also if few of them are read all the time", () => {
    const limit = 1024 * kibibyte;
    const slabBytes = 64 * kibibyte;
    const entries = stored(20_000, 700);
    const codec = recordCipher(testCipher(), rules, limit);
    const hot = entries.filter((_, index) => index % 200 === 0);
    for (const [index, entry] of entries.entries()) {
      // The second read keeps it.
      for (let reads = 0; reads < 2; reads += 1) read(codec, entry);
      if (index % 100 !== 0) continue;
      for (const each of hot) if (each.revision <= index) read(codec, each);
    }
    const slabs = new Set(hot.map((entry) => read(codec, entry).buffer));
    const recent = entries.slice(-600).toReversed();
    for (const entry of recent) {
      const { buffer } = read(codec, entry);
      if (buffer.byteLength === slabBytes) slabs.add(buffer);
    }
    expect(slabs.size).toBeGreaterThan(4);
    expect(slabs.size * slabBytes).toBeLessThanOrEqual(limit + slabBytes);
  });

  it("are kept if they are read again, whatever other sessions wrote under their numbers", () => {
    const sessions = [1, 2].map((byte) => {
      const key = createHash("sha256").update("test").digest();
      const cipher = new Cipher({
        random: { bytes: (count) => new Uint8Array(count).fill(byte) },
      });
      cipher.setKeys(new Map([[1, key]]), 1);
      return stored(3, 100, cipher);
    });
    const cipher = testCipher();
    const opened = vi.spyOn(cipher, "open");
    const codec = recordCipher(cipher, rules);
    for (const expected of [6, 12, 12]) {
      for (const entry of sessions.flat()) read(codec, entry);
      expect(opened).toHaveBeenCalledTimes(expected);
    }
  });
});
