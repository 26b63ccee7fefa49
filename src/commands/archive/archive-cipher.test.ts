import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decryptedArchive, encryptingSink } from "./archive-cipher.ts";

const chunkBytes = 64 * 1024;
const headBytes = "etagere encrypted archive 1\n".length + 60;
const master = randomBytes(32);
const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)) };

async function encrypted(bytes: Uint8Array, pieceBytes = 10_007): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const sink = encryptingSink((part) => void parts.push(Buffer.from(part)), { master, random });
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    await sink.write(bytes.subarray(from, from + pieceBytes));
  }
  await sink.end();
  return Buffer.concat(parts);
}

async function decrypted(archive: Uint8Array, key: Uint8Array = master): Promise<Buffer> {
  async function* pieces() {
    for (let from = 0; from < archive.length; from += 9973) {
      yield archive.subarray(from, from + 9973);
    }
  }
  const parts: Uint8Array[] = [];
  for await (const part of decryptedArchive(pieces(), () => Promise.resolve(key))) {
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** An encrypted archive of four chunks, the last of which is short. */
const plain = randomBytes(3 * chunkBytes + 100);
const chunk = (archive: Buffer, index: number): Buffer => {
  const start = headBytes + index * (chunkBytes + 16);
  return archive.subarray(start, start + chunkBytes + 16);
};

describe("an encrypted archive", () => {
  it.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes])(
    "keeps %i bytes",
    async (length) => {
      const bytes = plain.subarray(0, length);
      const archive = await encrypted(bytes);
      const chunks = Math.max(1, Math.ceil(length / chunkBytes));
      expect(archive.length).toBe(headBytes + chunks * 16 + length);
      expect((await decrypted(archive)).equals(bytes)).toBe(true);
    },
  );

  it("has a key of its own: the same bytes are never encrypted equally", async () => {
    const [one, two] = [await encrypted(plain), await encrypted(plain)];
    expect(chunk(one, 0).equals(chunk(two, 0))).toBe(false);
    expect(chunk(one, 0).equals(chunk(one, 1))).toBe(false);
  });

  it("is refused with another master key", async () => {
    const archive = await encrypted(plain);
    await expect(decrypted(archive, randomBytes(32))).rejects.toThrow("not the master key");
  });

  const changes: Record<string, (archive: Buffer) => Uint8Array> = {
    "with a changed byte": (archive) => {
      const copy = Buffer.from(archive);
      copy[headBytes + 1000]! ^= 1;
      return copy;
    },
    "that ends between chunks": (archive) => archive.subarray(0, headBytes + chunkBytes + 16),
    "that ends in a chunk": (archive) => archive.subarray(0, archive.length - 1),
    "that ends before its first chunk": (archive) => archive.subarray(0, headBytes),
    "that ends in its key": (archive) => archive.subarray(0, headBytes - 1),
    "with bytes after its end": (archive) => Buffer.concat([archive, Buffer.alloc(1)]),
    "with exchanged chunks": (archive) =>
      Buffer.concat([
        archive.subarray(0, headBytes),
        chunk(archive, 1),
        chunk(archive, 0),
        archive.subarray(headBytes + 2 * (chunkBytes + 16)),
      ]),
  };
  it.each(Object.entries(changes))("%s is refused", async (_, change) => {
    const archive = await encrypted(plain);
    await expect(decrypted(change(archive))).rejects.toThrow("damaged or incomplete");
  });

  it("may be plain text, which passes unchanged", async () => {
    for (const bytes of [plain, plain.subarray(0, 5), plain.subarray(0, 0)]) {
      expect((await decrypted(bytes)).equals(bytes)).toBe(true);
    }
  });
});
