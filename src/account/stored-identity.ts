import { createHash } from "node:crypto";
import type { Ticks } from "../base/ticks.ts";
import { anyTable, defineTable, internalRecord, recordCodec } from "../encoding/table.ts";
import type { View } from "../store/store.ts";
import { readRecords } from "../store/typed-records.ts";
import {
  identityNames,
  type IdentitySettings,
  type IgnoredIdentity,
  type PrincipalSettings,
} from "./identity.ts";
import {
  parseAssignment,
  parsePrincipal,
  type PrincipalInput,
  type RoleAssignmentInput,
} from "./parse-identity.ts";

/** The tables of stored principals and role assignments, and their combination with those of the
 *  configuration. `identity-manager.ts` writes the tables. */

/** A principal that was created by the admin API. `input` has the fields that the configuration
 *  would have for it. */
interface PrincipalRecord {
  readonly createdAt: Ticks;
  readonly input: PrincipalInput;
}

/** A role assignment that was created by the admin API, in the form of the configuration.
 *  `principal` is always an object id, because another principal may get the same name later. */
interface RoleAssignmentRecord {
  readonly createdAt: Ticks;
  readonly input: RoleAssignmentInput;
}

export const storedPrincipals = defineTable<string, PrincipalRecord>({
  name: "principals",
  tag: 0x60,
  key: (name) => [name],
  codec: recordCodec<PrincipalRecord>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** Role assignments by `assignmentId`. An archive has those of an account in its frame. */
export const storedAssignments = defineTable<string, RoleAssignmentRecord>({
  name: "role-assignments",
  tag: 0x61,
  key: (id) => [id],
  codec: recordCodec<RoleAssignmentRecord>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

export const identityTables = [anyTable(storedPrincipals), anyTable(storedAssignments)];

/** The id of a role assignment: the same role for the same scope has the same one, so that no two
 *  are stored. */
export function assignmentId(input: RoleAssignmentInput): string {
  const { principal, role, account, container, queue, table, share } = input;
  const parts = [principal, role, account, container, queue, table, share];
  const text = JSON.stringify(parts.map((part) => part?.toLowerCase() ?? null));
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** The stored principals by name, and the role assignments by id. */
export interface StoredIdentity {
  readonly principals: ReadonlyMap<string, PrincipalRecord>;
  readonly assignments: ReadonlyMap<string, RoleAssignmentRecord>;
}

export async function readIdentity(view: Pick<View, "range">): Promise<StoredIdentity> {
  const principals = await readRecords(view, storedPrincipals);
  const assignments = await readRecords(view, storedAssignments);
  return {
    principals: new Map(principals.map(({ parts, record }) => [String(parts[0]), record])),
    assignments: new Map(assignments.map(({ parts, record }) => [String(parts[0]), record])),
  };
}

/** Adds the stored principals and role assignments to those of the configuration. One that the
 *  configuration contradicts, or whose role is gone, is left out and named in `ignored`. */
export function withStoredIdentity(
  configured: IdentitySettings,
  { principals: records, assignments: assigned }: StoredIdentity,
): IdentitySettings {
  const ignored: IgnoredIdentity[] = [];
  const principals = [...configured.principals];
  const taken = new Set(principals.flatMap(identityNames));
  for (const [name, { input }] of records) {
    const problems: string[] = [];
    const parsed: PrincipalSettings = { ...parsePrincipal(name, input, problems), isStored: true };
    const clash = identityNames(parsed).find((each) => taken.has(each));
    if (clash !== undefined) problems.push(`principal "${name}": another has "${clash}"`);
    if (problems.length === 0) principals.push(parsed);
    else ignored.push({ kind: "principal", id: name, problem: problems.join("; ") });
  }
  const roles = new Map(configured.roles.map((role) => [role.name.toLowerCase(), role]));
  const assignments = [...configured.assignments];
  for (const [id, { input }] of assigned) {
    const problems: string[] = [];
    const known = { principals: [], roles, problems };
    const parsed = parseAssignment(`role assignment ${id}`, input, known);
    if (parsed !== undefined && problems.length === 0) assignments.push({ ...parsed, id });
    else ignored.push({ kind: "role assignment", id, problem: problems.join("; ") });
  }
  return { ...configured, principals, assignments, ignored, hasRoles: true };
}
