/** Constants of the protocol that several messages or handlers use ([MS-SMB2] 2.2). */

export const Command = {
  negotiate: 0x00,
  sessionSetup: 0x01,
  logoff: 0x02,
  treeConnect: 0x03,
  treeDisconnect: 0x04,
  create: 0x05,
  close: 0x06,
  flush: 0x07,
  read: 0x08,
  write: 0x09,
  lock: 0x0a,
  ioctl: 0x0b,
  cancel: 0x0c,
  echo: 0x0d,
  queryDirectory: 0x0e,
  changeNotify: 0x0f,
  queryInfo: 0x10,
  setInfo: 0x11,
  oplockBreak: 0x12,
} as const;

/** Converts a name in this code to that in the specification: `setInfo` to `SET_INFO`. */
export function inCapitals(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

const commandNames: ReadonlyMap<number, string> = new Map(
  Object.entries(Command).map(([name, number]) => [number, inCapitals(name)]),
);

/** The name of a command in [MS-SMB2], for example SET_INFO. */
export function commandNameOf(command: number): string {
  return commandNames.get(command) ?? `command ${command}`;
}

export const Dialect = {
  v202: 0x0202,
  v210: 0x0210,
  v300: 0x0300,
  v302: 0x0302,
  v311: 0x0311,
  /** The answer to an SMB1 NEGOTIATE that offers "SMB 2.???"; a NEGOTIATE of SMB 2 follows. */
  wildcard: 0x02ff,
} as const;

export const HeaderFlag = {
  response: 0x1,
  async: 0x2,
  related: 0x4,
  signed: 0x8,
  replay: 0x2000_0000,
} as const;

export const SecurityMode = { signingEnabled: 1, signingRequired: 2 } as const;

export const Capability = {
  leasing: 0x2,
  largeMtu: 0x4,
  multiChannel: 0x8,
  encryption: 0x40,
} as const;

export const Cipher = {
  none: 0,
  aes128Ccm: 1,
  aes128Gcm: 2,
  aes256Ccm: 3,
  aes256Gcm: 4,
} as const;

export const SigningAlgorithm = { hmacSha256: 0, aesCmac: 1, aesGmac: 2 } as const;

export const SessionFlag = { encryptData: 4 } as const;

export const ShareType = { disk: 1, pipe: 2 } as const;

export const OplockLevel = {
  none: 0,
  shared: 1,
  exclusive: 8,
  batch: 9,
  lease: 0xff,
} as const;

/** MessageId of messages that are no response, such as a break notification ([MS-SMB2] 2.2.23). */
export const notificationMessageId = 0xffff_ffff_ffff_ffffn;
