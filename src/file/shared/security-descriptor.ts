import { aceFlagWords, aceTypeWords, rightWords, sidWords } from "./sddl.ts";

/** Parses and formats security descriptors in SDDL (security descriptor definition language,
 *  [MS-DTYP] 2.5.1), the text form that is stored. */

/** A parsed descriptor, with SIDs written out in full. */
export interface SecurityDescriptor {
  readonly owner: string;
  readonly group: string;
  readonly access: AccessList;
  readonly audit: AccessList | undefined;
}

/** A DACL (`access`) or SACL (`audit`). */
export interface AccessList {
  readonly isProtected: boolean;
  readonly autoInherited: boolean;
  readonly entries: readonly AccessEntry[];
}

/** An access control entry (ACE) with the numbers of its binary form. */
export interface AccessEntry {
  readonly type: number;
  readonly flags: number;
  readonly mask: number;
  readonly sid: string;
}

/** The form of a descriptor in SDDL: owner, group, DACL and optional SACL. The parts are
 *  unambiguous, because no SID contains a colon. */
const descriptorForm =
  /^O:([^:]+?)G:([^:]+?)D:([A-Z_]*)((?:\([^()]*\))*)(?:S:([A-Z_]*)((?:\([^()]*\))*))?$/;

/** Parses a descriptor. Undefined if the text is malformed or uses an unknown abbreviation. */
export function parseSddl(text: string): SecurityDescriptor | undefined {
  const found = descriptorForm.exec(text.replaceAll(/\s/g, ""));
  if (found === null) return undefined;
  const owner = sidOf(found[1] ?? "");
  const group = sidOf(found[2] ?? "");
  const access = parseList(found[3] ?? "", found[4] ?? "");
  const hasAudit = found[6] !== undefined && found[6] !== "";
  const audit = hasAudit ? parseList(found[5] ?? "", found[6] ?? "") : undefined;
  if (owner === undefined || group === undefined || access === undefined) return undefined;
  if (hasAudit && audit === undefined) return undefined;
  return { owner, group, access, audit };
}

function parseList(flags: string, text: string): AccessList | undefined {
  const entries: AccessEntry[] = [];
  for (const entry of text.match(/\([^()]*\)/g) ?? []) {
    const parsed = parseEntry(entry.slice(1, -1));
    if (parsed === undefined) return undefined;
    entries.push(parsed);
  }
  const isProtected = flags.replaceAll("AI", "").replaceAll("AR", "").includes("P");
  return { isProtected, autoInherited: flags.includes("AI"), entries };
}

function parseEntry(text: string): AccessEntry | undefined {
  const [type = "", flags = "", rights = "", , , sid = ""] = text.split(";");
  const kind = aceTypeWords[type];
  const bits = sumOf(flags, aceFlagWords);
  const mask = /^0x[0-9a-f]{1,8}$/i.test(rights) ? Number(rights) : sumOf(rights, rightWords);
  const full = sidOf(sid);
  if (kind === undefined || bits === undefined || mask === undefined) return undefined;
  return full === undefined ? undefined : { type: kind, flags: bits, mask, sid: full };
}

/** The bits of a sequence of two-letter words, as `SDGXGWGR`; undefined if one is unknown. */
function sumOf(text: string, words: Readonly<Record<string, number>>): number | undefined {
  if (text.length % 2 !== 0) return undefined;
  let bits = 0;
  for (const word of text.match(/../g) ?? []) {
    const value = words[word];
    if (value === undefined) return undefined;
    bits = (bits | value) >>> 0;
  }
  return bits;
}

const sidForm = /^S-1-\d{1,15}(?:-\d{1,10}){1,15}$/;

function sidOf(text: string): string | undefined {
  return sidForm.test(text) ? text : sidWords[text];
}

export function formatSddl({ owner, group, access, audit }: SecurityDescriptor): string {
  const system = audit === undefined ? "" : `S:${formatList(audit)}`;
  return `O:${wordOf(owner)}G:${wordOf(group)}D:${formatList(access)}${system}`;
}

function formatList({ isProtected, autoInherited, entries }: AccessList): string {
  const flags = (isProtected ? "P" : "") + (autoInherited ? "AI" : "");
  return flags + entries.map(formatEntry).join("");
}

function formatEntry({ type, flags, mask, sid }: AccessEntry): string {
  const [kind = "A"] = Object.entries(aceTypeWords).find(([, value]) => value === type) ?? [];
  const bits = Object.entries(aceFlagWords)
    .filter(([, value]) => (flags & value) !== 0)
    .map(([word]) => word)
    .join("");
  return `(${kind};${bits};${formatMask(mask)};;;${wordOf(sid)})`;
}

/** Rights that are written as a sequence of words, in the order that Azure writes (recorded):
 *  `SDGXGWGR`, `GXGR`. Other combinations are written as a number. */
const summedWords = ["SD", "GA", "GX", "GW", "GR"] as const;

function formatMask(mask: number): string {
  const [right] = Object.entries(rightWords).find(([, value]) => value === mask) ?? [];
  if (right !== undefined) return right;
  let rest = mask;
  let words = "";
  for (const word of summedWords) {
    const value = rightWords[word] ?? 0;
    if ((mask & value) === 0) continue;
    words += word;
    rest = (rest & ~value) >>> 0;
  }
  return rest === 0 && mask !== 0 ? words : `0x${mask.toString(16)}`;
}

function wordOf(sid: string): string {
  const [word] = Object.entries(sidWords).find(([, full]) => full === sid) ?? [];
  return word ?? sid;
}
