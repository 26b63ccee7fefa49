import { Reader } from "../wire/reader.ts";
import { Writer } from "../wire/writer.ts";

/** Encodes and decodes the three messages of NTLM ([MS-NLMP] 2.2.1): NEGOTIATE and AUTHENTICATE of
 *  the client, CHALLENGE of the server. `smb/ntlm/login.ts` calls these functions. */

const ntlmSignature = Buffer.from("NTLMSSP\0", "latin1");
export const MessageType = { negotiate: 1, challenge: 2, authenticate: 3 } as const;

export const NtlmFlag = {
  unicode: 0x1,
  requestTarget: 0x4,
  sign: 0x10,
  seal: 0x20,
  ntlm: 0x200,
  alwaysSign: 0x8000,
  targetTypeServer: 0x2_0000,
  extendedSecurity: 0x8_0000,
  targetInfo: 0x80_0000,
  version: 0x200_0000,
  bits128: 0x2000_0000,
  keyExchange: 0x4000_0000,
  bits56: 0x8000_0000,
} as const;

/** Flags that every CHALLENGE has. */
const alwaysSet =
  NtlmFlag.unicode |
  NtlmFlag.ntlm |
  NtlmFlag.targetTypeServer |
  NtlmFlag.targetInfo |
  NtlmFlag.extendedSecurity;
/** Flags of the NEGOTIATE message that the CHALLENGE repeats. */
const echoed =
  NtlmFlag.requestTarget |
  NtlmFlag.sign |
  NtlmFlag.seal |
  NtlmFlag.alwaysSign |
  NtlmFlag.version |
  NtlmFlag.bits128 |
  NtlmFlag.keyExchange |
  NtlmFlag.bits56;

export function typeOfMessage(message: Buffer): number | undefined {
  if (message.length < 12 || !message.subarray(0, 8).equals(ntlmSignature)) return undefined;
  return message.readUInt32LE(8);
}

const challengeFixedBytes = 56;
const targetName = { computer: 1, domain: 2, dnsComputer: 3, dnsDomain: 4, time: 7, end: 0 };
const version = Buffer.from([6, 1, 0, 0, 0, 0, 0, 15]);

interface ChallengeOptions {
  readonly clientFlags: number;
  readonly challenge: Uint8Array;
  readonly serverName: string;
  /** FILETIME of the server. A client that finds it sends a MIC, a signature of all three
   *  messages. */
  readonly time: bigint;
}

export function encodeChallenge(options: ChallengeOptions): Buffer {
  const { clientFlags, challenge, serverName, time } = options;
  const target = Buffer.from(serverName.toUpperCase(), "utf16le");
  const dns = Buffer.from(serverName.toLowerCase(), "utf16le");
  const info = new Writer();
  const pair = (id: number, value: Buffer) => info.u16(id).u16(value.length).bytes(value);
  pair(targetName.domain, target);
  pair(targetName.computer, target);
  pair(targetName.dnsDomain, dns);
  pair(targetName.dnsComputer, dns);
  info.u16(targetName.time).u16(8).u64(time);
  pair(targetName.end, Buffer.alloc(0));
  const infoBytes = info.finish();
  return new Writer()
    .bytes(ntlmSignature)
    .u32(MessageType.challenge)
    .u16(target.length)
    .u16(target.length)
    .u32(challengeFixedBytes)
    .u32((clientFlags & echoed) | alwaysSet)
    .bytes(challenge)
    .zeros(8)
    .u16(infoBytes.length)
    .u16(infoBytes.length)
    .u32(challengeFixedBytes + target.length)
    .bytes(version)
    .bytes(target)
    .bytes(infoBytes)
    .finish();
}

export interface Authenticate {
  readonly ntResponse: Buffer;
  readonly domain: string;
  readonly user: string;
  readonly encryptedSessionKey: Buffer;
  readonly flags: number;
}

export function decodeAuthenticate(message: Buffer): Authenticate | undefined {
  const reader = new Reader(message, 20);
  const slot = (): Buffer => {
    const length = reader.u16();
    reader.skip(2);
    return reader.bytesAt(reader.u32(), length);
  };
  const ntResponse = slot();
  const domain = slot().toString("utf16le");
  const user = slot().toString("utf16le");
  slot();
  const encryptedSessionKey = slot();
  const flags = reader.u32();
  return reader.checked({ ntResponse, domain, user, encryptedSessionKey, flags });
}

export const micOffset = 72;
export const micBytes = 16;
const flagsPair = 6;
const hasMicFlag = 2;
const blobHeadBytes = 28;
const pairsMax = 64;

/** Whether the AV pairs of an NTLMv2 response are well-formed; NTLMv1 has none. */
export function hasValidPairs(ntResponse: Buffer): boolean {
  const reader = new Reader(ntResponse, 16 + blobHeadBytes);
  for (let count = 0; count < pairsMax; count += 1) {
    if (reader.remaining === 0) return true;
    const id = reader.u16();
    reader.bytes(reader.u16());
    if (!reader.intact || id === targetName.end) return reader.intact;
  }
  return false;
}

/** Whether the response says, in MsvAvFlags, that the client has sent a MIC: a signature of all
 *  three messages. */
export function claimsMic(ntResponse: Buffer): boolean {
  const reader = new Reader(ntResponse, 16 + blobHeadBytes);
  for (let count = 0; count < pairsMax && reader.intact; count += 1) {
    const id = reader.u16();
    const value = reader.bytes(reader.u16());
    if (id === targetName.end) return false;
    if (id === flagsPair && value.length === 4) return (value.readUInt32LE(0) & hasMicFlag) !== 0;
  }
  return false;
}
