/* Abbreviations of the security descriptor definition language ([MS-DTYP] 2.5.1.1). The tables are
   incomplete: a descriptor with another abbreviation is rejected. Values within a table must be
   unique, because the formatter finds abbreviations by value. */

/** Abbreviations of well-known accounts, groups and integrity levels, with their SIDs. */
export const sidWords: Readonly<Record<string, string>> = {
  SY: "S-1-5-18", // Local System
  LS: "S-1-5-19", // Local Service
  NS: "S-1-5-20", // Network Service
  BA: "S-1-5-32-544", // Administrators
  BU: "S-1-5-32-545", // Users
  BG: "S-1-5-32-546", // Guests
  PU: "S-1-5-32-547", // Power Users
  SO: "S-1-5-32-549", // Server Operators
  BO: "S-1-5-32-551", // Backup Operators
  AU: "S-1-5-11", // Authenticated Users
  RC: "S-1-5-12", // Restricted Code
  AN: "S-1-5-7", // Anonymous
  NU: "S-1-5-2", // Network
  IU: "S-1-5-4", // Interactive
  SU: "S-1-5-6", // Service
  WD: "S-1-1-0", // Everyone
  CO: "S-1-3-0", // Creator Owner
  CG: "S-1-3-1", // Creator Group
  OW: "S-1-3-4", // Owner Rights
  LW: "S-1-16-4096", // low integrity
  ME: "S-1-16-8192", // medium integrity
  HI: "S-1-16-12288", // high integrity
  SI: "S-1-16-16384", // system integrity
};

/** Abbreviations of access rights, with their bits in an access mask. */
export const rightWords: Readonly<Record<string, number>> = {
  FA: 0x1f_01ff,
  FR: 0x12_0089,
  FW: 0x12_0116,
  FX: 0x12_00a0,
  GA: 0x1000_0000,
  GX: 0x2000_0000,
  GW: 0x4000_0000,
  GR: 0x8000_0000,
  RC: 0x2_0000,
  SD: 0x1_0000,
  WD: 0x4_0000,
  WO: 0x8_0000,
  CC: 0x1,
  DC: 0x2,
  LC: 0x4,
  SW: 0x8,
  RP: 0x10,
  WP: 0x20,
  DT: 0x40,
  LO: 0x80,
  CR: 0x100,
};

/** Abbreviations of the types of access control entries. */
export const aceTypeWords: Readonly<Record<string, number>> = {
  A: 0,
  D: 1,
  AU: 2,
  AL: 3,
  ML: 0x11,
};

/** Abbreviations of the flags of access control entries. */
export const aceFlagWords: Readonly<Record<string, number>> = {
  OI: 0x1,
  CI: 0x2,
  NP: 0x4,
  IO: 0x8,
  ID: 0x10,
  SA: 0x40,
  FA: 0x80,
};

/** Longest permission, in UTF-16 code units; a longer one is a fault. Permissions are stored as
 *  text in SDDL (security descriptor definition language). */
const sddlUnitsMax = 8 * 1024;

const sid = "(?:S-1(?:-(?:\\d{1,20}|0x[0-9a-fA-F]{1,16})){2,16}|[A-Z]{2})";
const aces = "(?:\\([^()]{1,1024}\\)){0,2000}";
const flags = "(?:P|AR|AI|NO_ACCESS_CONTROL){0,4}";
const descriptor = new RegExp(`^O:(${sid})G:(${sid})D:${flags}(${aces})(?:S:${flags}(${aces}))?$`);
const aceForm = new RegExp(
  `^\\([A-Z]{1,2};[A-Z]{0,16};[A-Z0-9a-fx]{0,64};[^;]{0,64};[^;]{0,64};${sid}(?:;.*)?\\)$`,
);

/** Whether a text is a security descriptor that the service accepts: it must have an owner, a group
 *  and an access list. */
export function isSddl(text: string): boolean {
  if (text.length > sddlUnitsMax) return false;
  const found = descriptor.exec(text.replaceAll(/\s/g, ""));
  if (found === null) return false;
  const entries = `${found[3] ?? ""}${found[4] ?? ""}`.match(/\([^()]*\)/g) ?? [];
  return entries.every((entry) => aceForm.test(entry));
}

/** Adds the marker of an absent audit list if there is no audit list, so that both spellings have
 *  the same key. */
export function normalSddl(text: string): string {
  return text.includes("S:") && /\)?S:[A-Z_(]/.test(text.slice(text.indexOf("D:")))
    ? text
    : `${text}S:NO_ACCESS_CONTROL`;
}

/** The default permission of the root directory of a share, and of directories in the root
 *  (recorded from Azure). */
export const rootSddl =
  "O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)" +
  "(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)";

/** The permission that new files in the root directory of a share inherit (recorded from Azure). */
export const fileInRootSddl =
  "O:SYG:SYD:(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x1200a9;;;BU)(A;;0x1301bf;;;AU)(A;;FA;;;SY)";

/** The default permission of all files and directories that earlier releases of this server
 *  created. Their records have its key, so its text must stay known. */
const formerSddl =
  "O:SYG:SYD:(A;OICIID;FA;;;BA)(A;OICIID;FA;;;SY)(A;OICIIOID;FA;;;CO)" +
  "(A;ID;0x1301bf;;;AU)(A;OICIIOID;SDGXGWGR;;;AU)(A;OICIID;0x1200a9;;;BU)";

const offsets = [0xcbf2_9ce4_8422_2325n, 0x8422_2325_cbf2_9ce4n] as const;
const prime = 0x100_0000_01b3n;
const mask = 0xffff_ffff_ffff_ffffn;

/** Key of a security descriptor: a hash of its normalised text, so that each descriptor is stored
 *  once per share. */
export function permissionKeyOf(sddl: string): string {
  return keyOfText(normalSddl(sddl));
}

/** The key of a descriptor that has passed `normalSddl`. */
export function keyOfText(text: string): string {
  return offsets.map((offset) => hash(text, offset)).join("*");
}

/** The 64-bit hash FNV-1a with a final mix. Two of them with different start values make a key. */
function hash(text: string, offset: bigint): bigint {
  let value = offset;
  for (const byte of new TextEncoder().encode(text)) {
    value = ((value ^ BigInt(byte)) * prime) & mask;
  }
  return value ^ (value >> 29n);
}

export const permissionKeyForm = /^\d{1,20}\*\d{1,20}$/;

export const rootPermissionKey = keyOfText(rootSddl);
export const fileInRootPermissionKey = keyOfText(fileInRootSddl);

const wellKnown: ReadonlyMap<string, string> = new Map([
  [rootPermissionKey, rootSddl],
  [fileInRootPermissionKey, fileInRootSddl],
  [permissionKeyOf(formerSddl), formerSddl],
]);

/** The text of a well-known permission, which shares do not store; undefined for other keys. */
export function wellKnownSddl(key: string): string | undefined {
  return wellKnown.get(key);
}
