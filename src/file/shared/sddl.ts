/** Length of a security descriptor in SDDL (security descriptor definition language), the form in
 *  which permissions are stored; in UTF-16 code units. */

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

/** The default permission of the root directory of a share, and of directories in it (recorded). */
export const rootSddl =
  "O:SYG:SYD:(A;OICI;FA;;;BA)(A;OICI;FA;;;SY)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)" +
  "(A;OICI;0x1301bf;;;AU)(A;;FA;;;SY)(A;OICIIO;GA;;;CO)";

/** The permission that files in the root inherit. */
export const fileInRootSddl =
  "O:SYG:SYD:(A;;FA;;;BA)(A;;FA;;;SY)(A;;0x1200a9;;;BU)(A;;0x1301bf;;;AU)(A;;FA;;;SY)";

/** The default permission of all files and directories that earlier releases created. Their records
 *  have its key. */
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

/** The key of a text that is already normalised. */
export function keyOfText(text: string): string {
  return offsets.map((offset) => hash(text, offset)).join("*");
}

/** 64-bit FNV-1a with a final mix. */
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
