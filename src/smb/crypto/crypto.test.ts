import { describe, expect, it } from "vitest";
import { cmac, cmacKey, signerOf, encryptorOf, deriveKey } from "./session-keys.ts";
import { md4, Rc4 } from "./md4-rc4.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

describe("md4 with the test vectors of RFC 1320", () => {
  it.each([
    ["", "31d6cfe0d16ae931b73c59d7e0c089c0"],
    ["abc", "a448017aaf21d8525fc10ae87aa6729d"],
    ["message digest", "d9130a8164549fe818874806e1c7014b"],
    [
      "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "e33b4ddc9c38f2199c3e7b164fcc0536",
    ],
  ])("%j", (text, digest) => {
    expect(md4(Buffer.from(text)).toString("hex")).toBe(digest);
  });
});

describe("Rc4 with the test vectors of RFC 6229", () => {
  it("produces the key stream of a 40-bit key, in one call or two", () => {
    const stream = "b2396305f03dc027ccc3524a0a1118a8";
    expect(new Rc4(hex("0102030405")).apply(Buffer.alloc(16)).toString("hex")).toBe(stream);
    const pieces = new Rc4(hex("0102030405"));
    const joined = Buffer.concat([pieces.apply(Buffer.alloc(5)), pieces.apply(Buffer.alloc(11))]);
    expect(joined.toString("hex")).toBe(stream);
  });
});

describe("cmac with the test vectors of RFC 4493", () => {
  const key = cmacKey(hex("2b7e151628aed2a6abf7158809cf4f3c"));
  const message = hex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
  );
  it.each([
    [0, "bb1d6929e95937287fa37d129b756746"],
    [16, "070a16b46b4d4144f79bdd9dd04a287c"],
    [40, "dfa66747de9ae63030ca32611497c827"],
    [64, "51f0bebf7e3b9d92fc49741779363cfe"],
  ])("%i bytes", (length, mac) => {
    expect(cmac(key, message.subarray(0, length)).toString("hex")).toBe(mac);
  });
});

describe("message protection", () => {
  const key = Buffer.alloc(16, 7);

  it.each([
    [0x0210, 0],
    [0x0300, 1],
    [0x0311, 0],
    [0x0311, 1],
  ])(
    "dialect %i, signing algorithm %i: verifies a signed message and rejects a changed one",
    (...form) => {
      const signer = signerOf(key, ...form);
      const message = Buffer.alloc(100, 1);
      signer.sign(message);
      expect(signer.verify(Buffer.from(message))).toBe(true);
      message[70]! ^= 1;
      expect(signer.verify(message)).toBe(false);
    },
  );

  it("sets signsIdOnce only for AES-GMAC, whose nonce is the message id", () => {
    expect(signerOf(key, 0x0311, 2).signsIdOnce).toBe(true);
    for (const [dialect, algorithm] of [
      [0x0210, 0],
      [0x0300, 1],
      [0x0311, 1],
    ] as const) {
      expect(signerOf(key, dialect, algorithm).signsIdOnce).toBe(false);
    }
  });

  it.each([1, 2, 3, 4])(
    "cipher %i: decrypts an encrypted message and rejects a changed one",
    (cipher) => {
      const both = deriveKey(key, Buffer.from("a"), Buffer.from("b"), cipher > 2 ? 256 : 128);
      const keys = { signing: key, incoming: both, outgoing: both };
      const encryptor = encryptorOf({ sessionId: 5n, cipher, keys });
      const encrypted = Buffer.concat(encryptor.encrypt([Buffer.from("one "), Buffer.from("two")]));
      expect(encryptor.decrypt(Buffer.from(encrypted))?.toString()).toBe("one two");
      encrypted[encrypted.length - 1]! ^= 1;
      expect(encryptor.decrypt(encrypted)).toBeUndefined();
      const again = Buffer.concat(encryptor.encrypt([Buffer.from("one two")]));
      expect(again.subarray(20, 32).equals(encrypted.subarray(20, 32))).toBe(false);
    },
  );
});
