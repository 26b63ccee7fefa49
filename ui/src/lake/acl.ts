type AclScope = "access" | "default";
type AclType = "user" | "group" | "mask" | "other";

export interface AclEntry {
  readonly scope: AclScope;
  readonly type: AclType;
  /** Object id of a named user or group; otherwise empty. */
  readonly id: string;
  /** `rwx` with `-` for each permission that is not granted. */
  readonly permissions: string;
}

export const aclScopes: readonly AclScope[] = ["access", "default"];
export const aclTypes: readonly AclType[] = ["user", "group", "mask", "other"];

const entriesPerScopeMax = 32;
const idCharactersMax = 256;

export function parseAcl(text: string): readonly AclEntry[] {
  const items = text.split(",").filter((item) => item.trim() !== "");
  return items.map((item) => {
    const parts = item.trim().split(":");
    const isDefault = parts[0] === "default";
    const [type = "", id = "", permissions = "---"] = isDefault ? parts.slice(1) : parts;
    const scope = isDefault ? "default" : "access";
    return { scope, type: type as AclType, id, permissions };
  });
}

/** The name of an entry, as in a request that removes it. */
export function entryName({ scope, type, id }: AclEntry): string {
  return `${scope === "default" ? "default:" : ""}${type}:${id}`;
}

export function formatAcl(entries: readonly AclEntry[]): string {
  return entries.map((entry) => `${entryName(entry)}:${entry.permissions}`).join(",");
}

/** Entries to remove are named without permissions. */
export function formatNames(entries: readonly AclEntry[]): string {
  return entries.map(entryName).join(",");
}

interface AclRules {
  readonly isDirectory: boolean;
  /** A whole list needs the entries of owner, group and other. */
  readonly isWhole: boolean;
}

/** The first mistake, as a sentence that begins with the name of the entry. */
export function aclProblem(entries: readonly AclEntry[], rules: AclRules): string | undefined {
  if (entries.length === 0) return "The list has no entries.";
  const seen = new Set<string>();
  for (const entry of entries) {
    const name = entryName(entry);
    const wrong = entryProblem(entry, rules);
    if (wrong !== undefined) return `${name} ${wrong}`;
    if (seen.has(name)) return `${name} is in the list twice.`;
    seen.add(name);
  }
  for (const scope of aclScopes) {
    const own = entries.filter((entry) => entry.scope === scope);
    if (own.length > entriesPerScopeMax) {
      return `The list has ${own.length} ${scope} entries; ${entriesPerScopeMax} are allowed.`;
    }
    const missing = rules.isWhole ? missingIn(own, scope) : undefined;
    if (missing !== undefined) return missing;
  }
  return undefined;
}

function entryProblem({ scope, type, id }: AclEntry, rules: AclRules): string | undefined {
  if (scope === "default" && !rules.isDirectory)
    return "is a default entry: only directories have them.";
  const mayBeNamed = type === "user" || type === "group";
  if (id !== "" && !mayBeNamed) return `has an id: ${type} entries have none.`;
  if (id.length > idCharactersMax) return `has an id of more than ${idCharactersMax} characters.`;
  if (!/^[\x21-\x7e]*$/.test(id)) return "has an id with spaces or letters outside ASCII.";
  return /[:,]/.test(id) ? "has an id with a colon or comma." : undefined;
}

function missingIn(entries: readonly AclEntry[], scope: AclScope): string | undefined {
  if (scope === "default" && entries.length === 0) return undefined;
  const start = scope === "default" ? "default:" : "";
  const has = (type: AclType): boolean =>
    entries.some((entry) => entry.type === type && entry.id === "");
  const absent = (["user", "group", "other"] as const).find((type) => !has(type));
  if (absent !== undefined) return `${start}${absent}: is missing.`;
  const named = entries.find(({ id }) => id !== "");
  if (named === undefined || has("mask")) return undefined;
  return `${start}mask: is missing: ${entryName(named)} needs it.`;
}

/** `rwxr-x---`, `rwxr-x--t`, `750` or `1750`. */
export function permissionsProblem(text: string): string | undefined {
  const isKnown = /^[01]?[0-7]{3}$/.test(text) || /^([r-][w-][x-]){2}[r-][w-][xtT-]$/.test(text);
  return isKnown ? undefined : `Permissions: ${text || "empty"} is neither rwxr-x--- nor 0750.`;
}
