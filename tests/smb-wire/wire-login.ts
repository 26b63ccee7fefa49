import { createHmac } from "node:crypto";
import { passwordHash } from "../../src/smb/ntlm/login.ts";
import { Writer } from "../../src/smb/wire/buffers.ts";

/** NTLM messages of a client, without SPNEGO, which the server does not require. */

const headerBytes = 64;
const bindingFlag = 1;

export function firstToken(): Buffer {
  return new Writer().bytes(ntlmHead(1)).u32(0xe208_8215).zeros(16).finish();
}

function ntlmHead(type: number): Buffer {
  return new Writer().bytes(Buffer.from("NTLMSSP\0", "latin1")).u32(type).finish();
}

export function sessionSetup(token: Buffer, binds = false): Buffer {
  return new Writer()
    .u16(25)
    .u8(binds ? bindingFlag : 0)
    .u8(1)
    .u32(0)
    .u32(0)
    .u16(headerBytes + 24)
    .u16(token.length)
    .u64(0n)
    .bytes(token)
    .finish();
}

const authenticateBytes = 88;

export function authenticate({
  user,
  key,
  challenge,
  clientChallenge,
}: {
  user: string;
  key: string;
  challenge: Buffer;
  clientChallenge: Buffer;
}) {
  const info = challenge.subarray(
    challenge.readUInt32LE(44),
    challenge.readUInt32LE(44) + challenge.readUInt16LE(40),
  );
  const hmac = (secret: Buffer, ...parts: readonly Buffer[]): Buffer => {
    const made = createHmac("md5", secret);
    for (const part of parts) made.update(part);
    return made.digest();
  };
  const responseKey = hmac(passwordHash(key), Buffer.from(user.toUpperCase(), "utf16le"));
  const blob = new Writer()
    .u32(0x101)
    .u32(0)
    .u64(0n)
    .bytes(clientChallenge)
    .u32(0)
    .bytes(info)
    .u32(0)
    .finish();
  const proof = hmac(responseKey, challenge.subarray(24, 32), blob);
  // An anonymous client sends an empty response.
  const nt = user === "" ? Buffer.alloc(0) : Buffer.concat([proof, blob]);
  const name = Buffer.from(user, "utf16le");
  const writer = new Writer().bytes(ntlmHead(3));
  const slot = (length: number, at: number) => writer.u16(length).u16(length).u32(at);
  slot(0, authenticateBytes);
  slot(nt.length, authenticateBytes + name.length);
  slot(0, authenticateBytes);
  slot(name.length, authenticateBytes);
  slot(0, authenticateBytes);
  slot(0, authenticateBytes);
  const message = writer.u32(0xa208_8205).zeros(24).bytes(name).bytes(nt).finish();
  return { message, sessionKey: hmac(responseKey, proof) };
}
