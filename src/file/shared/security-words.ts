/* Abbreviations of the security descriptor definition language ([MS-DTYP] 2.5.1.1). They are not
 * complete: descriptors with others are rejected. Values within a table must be unique, because the
 * formatter finds abbreviations by value. */

/** Well-known accounts, groups and integrity levels. */
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

/** Access rights. */
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

/** Types of access control entries. */
export const aceTypeWords: Readonly<Record<string, number>> = {
  A: 0,
  D: 1,
  AU: 2,
  AL: 3,
  ML: 0x11,
};

/** Flags of access control entries. */
export const aceFlagWords: Readonly<Record<string, number>> = {
  OI: 0x1,
  CI: 0x2,
  NP: 0x4,
  IO: 0x8,
  ID: 0x10,
  SA: 0x40,
  FA: 0x80,
};
