import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../store.ts";
import { Cipher, messageId, sealBytes, SealBroken } from "./cipher.ts";

const random = { bytes: (count: number) => new Uint8Array(randomBytes(count)) };
const dataKey = random.bytes(32);
const place = Buffer.from("place");
const text = Buffer.from("Some text that must not be readable.");

function newCipher(messagesMax?: number, ownRandom = random): Cipher {
  const given = messagesMax !== undefined && { messagesMax };
  const cipher = new Cipher({ random: ownRandom, ...given });
  cipher.setKeys(new Map([[7, dataKey]]), 7);
  return cipher;
}

/** What must never occur twice: the session, which determines the key, and the counter. */
const nonceOf = (sealed: Uint8Array): string => Buffer.from(sealed.subarray(0, 24)).toString("hex");

describe("a cipher", () => {
  it("opens in another process what it has sealed, and only there where it was sealed for", () => {
    const sealed = newCipher().seal("record", place, text);
    expect(Buffer.from(sealed).includes("must not")).toBe(false);
    expect(sealed.length).toBe(text.length + sealBytes);
    const later = newCipher();
    expect(Buffer.from(later.open("record", place, sealed))).toEqual(text);
    expect(() => later.open("record", Buffer.from("other"), sealed)).toThrow(SealBroken);
    expect(() => later.open("content", place, sealed)).toThrow("not encrypted as content");
    expect(() => later.open("record", place, text)).toThrow("not encrypted as record");
  });

  it("rejects a message of which any byte was changed", () => {
    const cipher = newCipher();
    const sealed = cipher.seal("content", place, text);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = new Uint8Array(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      // Another id of a data key is one that is not known.
      const error = at >= 1 && at <= 3 ? StoreUnavailable : SealBroken;
      expect(() => cipher.open("content", place, changed), `byte ${at}`).toThrow(error);
    }
  });

  it("seals empty values", () => {
    const cipher = newCipher();
    const sealed = cipher.seal("record", place, new Uint8Array(0));
    expect(cipher.open("record", place, sealed)).toEqual(new Uint8Array(0));
  });

  it("never uses a nonce twice: not in a process, not after kills, not when a session ends", () => {
    const nonces = new Set<string>();
    const processes = 50;
    const messages = 40;
    for (let process = 0; process < processes; process += 1) {
      // Nothing is left of a killed process: each one begins with the data key alone.
      const cipher = newCipher(16);
      for (let count = 0; count < messages; count += 1) {
        const kind = count % 3 === 0 ? "content" : "record";
        nonces.add(nonceOf(cipher.seal(kind, place, text)));
      }
    }
    expect(nonces.size).toBe(processes * messages);
  });

  it("counts a message before it is sealed, so that an exception leads to no second use", () => {
    const cipher = newCipher();
    const first = nonceOf(cipher.seal("record", place, text));
    expect(() => cipher.seal("record", "wrong" as never, null as never)).toThrow();
    expect(() => cipher.seal("record", null as never, text)).toThrow();
    const next = cipher.seal("record", place, text);
    expect(Buffer.from(next).readUInt32BE(20) - Number.parseInt(first.slice(-8), 16)).toBe(2);
  });

  it("seals with the active key, opens with all, and asks for those that it does not know", () => {
    const cipher = newCipher();
    const before = cipher.seal("record", place, text);
    const next = random.bytes(32);
    const other = newCipher();
    let asked = 0;
    other.onUnknownKey = () => void (asked += 1);
    cipher.setKeys(
      new Map([
        [7, dataKey],
        [8, next],
      ]),
      8,
    );
    const after = cipher.seal("record", place, text);
    expect(Buffer.from(after).readUIntBE(1, 3)).toBe(8);
    expect(Buffer.from(cipher.open("record", place, before))).toEqual(text);
    expect(() => other.open("record", place, after)).toThrow("data key 8");
    expect(asked).toBe(1);
    other.setKeys(
      new Map([
        [7, dataKey],
        [8, next],
      ]),
      7,
    );
    expect(Buffer.from(other.open("record", place, after))).toEqual(text);
  });
});

describe("the id of a message", () => {
  it("differs from those of other messages of a session, and of another one", () => {
    const ids = new Set<number>();
    for (const byte of [0, 255]) {
      const salt = { bytes: (count: number) => new Uint8Array(count).fill(byte) };
      const cipher = newCipher(undefined, salt);
      for (let count = 0; count < 3; count += 1) {
        ids.add(messageId(cipher.seal("record", place, text)));
      }
    }
    const end = 0xffff * 2 ** 32;
    expect([...ids]).toEqual([0, 1, 2, end, end + 1, end + 2]);
  });
});
