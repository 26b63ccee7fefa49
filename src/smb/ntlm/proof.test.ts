import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { passwordHash, proveSession } from "./login.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");

/** The example of [MS-NLMP] 4.2.4. */
const challenge = hex("0123456789abcdef");
const user = "User";
const domain = "Domain";
const password = "Password";

function responseFor(secret: string) {
  const responseKey = createHmac("md5", passwordHash(secret))
    .update(Buffer.from(user.toUpperCase() + domain, "utf16le"))
    .digest();
  const blob = Buffer.concat([hex("0101000000000000"), Buffer.alloc(32)]);
  const proof = createHmac("md5", responseKey).update(challenge).update(blob).digest();
  return { responseKey, ntResponse: Buffer.concat([proof, blob]), proof };
}

const exchange = {
  negotiate: Buffer.alloc(0),
  challengeMessage: Buffer.alloc(0),
  challenge,
  authenticateMessage: Buffer.alloc(0),
};

describe("NTLMv2", () => {
  it("computes the password hash and response key of the specification's example", () => {
    expect(passwordHash(password).toString("hex")).toBe("a4f49c406510bdcab6824ee7c30fd852");
    expect(responseFor(password).responseKey.toString("hex")).toBe(
      "0c868a403bfd7a93a3001ef22ef02e3f",
    );
  });

  it("returns the session key only for the right password and user", () => {
    const { ntResponse, responseKey, proof } = responseFor(password);
    const response = { ntResponse, user, domain, encryptedSessionKey: Buffer.alloc(0), flags: 0 };
    const expected = createHmac("md5", responseKey).update(proof).digest();
    expect(proveSession(passwordHash(password), response, exchange)).toEqual(expected);
    expect(proveSession(passwordHash("other"), response, exchange)).toBeUndefined();
    const otherUser = { ...response, user: "Other" };
    expect(proveSession(passwordHash(password), otherUser, exchange)).toBeUndefined();
  });

  it("rejects NTLMv1 responses, which have 24 bytes", () => {
    const response = {
      ntResponse: Buffer.alloc(24),
      user,
      domain,
      encryptedSessionKey: Buffer.alloc(0),
      flags: 0,
    };
    expect(proveSession(passwordHash(password), response, exchange)).toBeUndefined();
  });
});
