import { genericRights } from "../locks/access.ts";
import { formatSddl, parseSddl, type AccessEntry } from "./security-descriptor.ts";
import { aceFlagWords, sidWords } from "./sddl.ts";

/** Derives the security descriptor of a new file or directory from that of its parent by [MS-DTYP]
 *  2.5.3.4, with two differences recorded from Azure for entries of the root: inherited entries
 *  have no mark (ID), and owner and group are the system. */

const system = bit(sidWords, "SY");
const creatorOwner = bit(sidWords, "CO");
const creatorGroup = bit(sidWords, "CG");
const objectInherit = bit(aceFlagWords, "OI");
const containerInherit = bit(aceFlagWords, "CI");
const noPropagate = bit(aceFlagWords, "NP");
const inheritOnly = bit(aceFlagWords, "IO");

function bit<T>(words: Readonly<Record<string, T>>, word: string): T {
  const value = words[word];
  if (value === undefined) throw new Error(`no word ${word}`);
  return value;
}

/** The security descriptor that a child inherits, in SDDL. Undefined if `parent` is malformed or
 *  has no entry that a child of this kind inherits. */
export function inheritedSddl(parent: string, kind: "directory" | "file"): string | undefined {
  const descriptor = parseSddl(withoutAudit(parent));
  if (descriptor === undefined) return undefined;
  const entries = descriptor.access.entries.flatMap((entry) => inheritedEntries(entry, kind));
  if (entries.length === 0) return undefined;
  return formatSddl({
    owner: system,
    group: system,
    access: { isProtected: false, autoInherited: false, entries },
    audit: undefined,
  });
}

/** The security descriptor that a new file gets if the request has one. Recorded from Azure:
 *  generic rights are replaced ([MS-DTYP] 2.5.3.4), and no entry is marked as inherited; Set
 *  Properties and Rename store the descriptor as it is. A descriptor that cannot be parsed stays as
 *  it is. */
export function createdSddl(sddl: string): string {
  const descriptor = parseSddl(withoutAudit(sddl));
  if (descriptor === undefined) return sddl;
  const entries = descriptor.access.entries.map((entry) =>
    (entry.flags & inheritOnly) === 0 ? { ...entry, mask: specific(entry.mask) } : entry,
  );
  const access = { ...descriptor.access, autoInherited: false, entries };
  return formatSddl({ ...descriptor, access });
}

/** Removes the marker of an absent audit list, which `normalSddl` adds to stored descriptors and
 *  `parseSddl` does not know. */
function withoutAudit(sddl: string): string {
  return sddl.replace(/S:NO_ACCESS_CONTROL$/, "");
}

function inheritedEntries(entry: AccessEntry, kind: "directory" | "file"): readonly AccessEntry[] {
  const { flags } = entry;
  const isForFiles = (flags & objectInherit) !== 0;
  if (kind === "file") return isForFiles ? [effective(entry)] : [];
  const isForDirectories = (flags & containerInherit) !== 0;
  const goesOn = (flags & noPropagate) === 0;
  const passedOn = flags & (objectInherit | containerInherit);
  if (!isForDirectories) {
    return isForFiles && goesOn ? [{ ...entry, flags: passedOn | inheritOnly }] : [];
  }
  const here = effective(entry);
  if (!goesOn) return [here];
  const isSame = here.mask === entry.mask && here.sid === entry.sid;
  return isSame
    ? [{ ...entry, flags: passedOn }]
    : [here, { ...entry, flags: passedOn | inheritOnly }];
}

/** The entry as it applies to the child itself: generic rights are replaced by specific ones, and
 *  the SIDs of creator and creator group by the owner. */
function effective({ type, mask, sid }: AccessEntry): AccessEntry {
  const isCreator = sid === creatorOwner || sid === creatorGroup;
  return { type, flags: 0, mask: specific(mask), sid: isCreator ? system : sid };
}

/** Replaces generic rights (as GENERIC_READ) in an access mask by the rights that they mean. */
function specific(mask: number): number {
  let bits = mask;
  for (const [generic, rights] of genericRights) {
    if ((mask & generic) !== 0) bits = ((bits & ~generic) | rights) >>> 0;
  }
  return bits;
}
