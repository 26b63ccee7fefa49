const messageIdOffset = 24;
const sessionIdOffset = 40;
const headerBytes = 64;
const beginning = Buffer.from([0xfe, 0x53, 0x4d, 0x42]);

/** Identifies an SMB response. */
export function smbAnswerId(message: Buffer): string {
  const session = message.readBigUInt64LE(sessionIdOffset);
  return `smb ${session}.${message.readBigUInt64LE(messageIdOffset)}`;
}

/** The ids of all responses that begin in these bytes. */
export function smbAnswerIds(bytes: Buffer): readonly string[] {
  const ids: string[] = [];
  let at = bytes.indexOf(beginning);
  while (at >= 0 && at + headerBytes <= bytes.length) {
    ids.push(smbAnswerId(bytes.subarray(at)));
    at = bytes.indexOf(beginning, at + headerBytes);
  }
  return ids;
}
