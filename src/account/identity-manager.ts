import type { Random } from "../base/world.ts";
import { newId } from "../operation/identifiers.ts";
import { guidFromBytes, parseGuid } from "../protocol/guid.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import { putRecord, readRecords } from "../store/typed-records.ts";
import { accountsState, readAccount } from "./account-record.ts";
import {
  developerPrincipal,
  identityNames,
  type IdentitySettings,
  type PrincipalSettings,
  type IgnoredIdentity,
} from "./identity.ts";
import { refuseChange, type ChangeFault, type ChangeResult } from "./change-result.ts";
import {
  parseAssignment,
  parsePrincipal,
  type PrincipalInput,
  type RoleAssignmentInput,
} from "./parse-identity.ts";
import type { AccountLoad } from "./load-account.ts";
import { createHash } from "node:crypto";
import type { Ticks } from "../base/ticks.ts";
import { anyTable, defineTable, internalRecord, recordCodec } from "../encoding/table.ts";

/** The principals and role assignments that are kept in the store: `IdentityManager`, with which
 *  the admin API and `etagere principal` change them, their tables, and their combination with
 *  those of the configuration, which are not changed here. */

/** The identities that this process serves, configured and stored; only the methods that
 *  `IdentityManager` needs. */
interface ServedIdentity {
  identity(): IdentitySettings;
  /** Rereads the identities in the store. */
  refresh(): Promise<boolean>;
}

/** Fields of a principal that the admin API sets; null removes one, undefined keeps it. */
export interface PrincipalChange {
  readonly clientId?: string | null | undefined;
  readonly secret?: string | null | undefined;
  readonly groups?: readonly string[] | null | undefined;
  /** Whether the principal gets a new random secret. */
  readonly newSecret?: boolean | undefined;
}

export interface NewPrincipal extends PrincipalChange {
  readonly name: string;
  /** Undefined: a random object id. */
  readonly objectId?: string | undefined;
}

/** Most stored principals and role assignments, limits of this server: each process keeps all in
 *  memory, and a change reads all. */
const principalsMax = 1000;
const assignmentsMax = 4000;
const secretBytes = 32;
/** Names of principals have no control characters, and no invisible space at the ends. */
const namePattern = /^(?!\s)[^\p{Cc}]{1,128}(?<!\s)$/u;

/** Creates, changes and deletes stored principals and role assignments, but not those of the
 *  configuration. Every change is a transaction that has read all of them, so that two principals
 *  can never have the same id. */
export class IdentityManager {
  readonly #store: Store;
  readonly #random: Random;
  readonly #served: ServedIdentity;

  constructor(
    { store, random }: { readonly store: Store; readonly random: Random },
    served: ServedIdentity,
  ) {
    this.#store = store;
    this.#random = random;
    this.#served = served;
  }

  /** Creates a principal. The result contains the secret, which no later response shows. */
  createPrincipal({ name, objectId, ...fields }: NewPrincipal) {
    const id = objectId ?? guidFromBytes(this.#random.bytes(16));
    return this.#change(async (tx, stored) => {
      if (!namePattern.test(name)) {
        return refuseChange(
          "InvalidInput",
          "a name has 1 to 128 characters, and no space at the ends",
        );
      }
      if (stored.principals.size >= principalsMax) {
        return refuseChange(
          "TooManyPrincipals",
          `there are ${principalsMax} stored principals already`,
        );
      }
      return this.#putPrincipal(tx, stored, { name, input: { objectId: id }, fields });
    });
  }

  /** Changes a principal. Its name and object id are fixed: role assignments and tokens contain the
   *  id. */
  changePrincipal(name: string, fields: PrincipalChange) {
    return this.#change(async (tx, stored) => {
      const present = stored.principals.get(name);
      if (present === undefined) return this.#notStored(name);
      return this.#putPrincipal(tx, stored, { name, input: present.input, fields });
    });
  }

  /** Deletes a principal and its stored role assignments. Its tokens end with it. */
  deletePrincipal(name: string): Promise<ChangeResult<undefined>> {
    return this.#change(async (tx, stored) => {
      const present = stored.principals.get(name);
      if (present === undefined) return this.#notStored(name);
      tx.delete(storedPrincipals.key(name));
      const { objectId } = present.input;
      removeAssignments(tx, stored, ({ principal }) => isSame(principal, objectId));
      return { ok: true, value: undefined };
    });
  }

  /** Assigns a role, in the form of the configuration; resolves to the id of the assignment. */
  assignRole(given: Readonly<Record<string, unknown>>): Promise<ChangeResult<string>> {
    return this.#change(async (tx, stored) => {
      const { roles, issuers } = this.#served.identity();
      const principals = this.#allPrincipals(stored);
      const problems: string[] = [];
      const known = { principals, roles: byName(roles), problems };
      const parsed = parseAssignment("role assignment", given, known);
      if (parsed === undefined || problems.length > 0) {
        return refuseChange("InvalidInput", problems.join("; "));
      }
      const { objectId, role, account } = parsed;
      const ids = principals.flatMap((each) => [each.objectId, ...each.groups]);
      const isKnown = ids.some((id) => isSame(id, objectId));
      if (!isKnown && issuers.length === 0 && parseGuid(objectId) === undefined) {
        return refuseChange(
          "InvalidInput",
          `there is no principal "${objectId}", and it is no GUID`,
        );
      }
      // The account must exist, because the assignment would otherwise apply to an account of this
      // name that is created later for another purpose.
      if (account !== undefined && (await readAccount(tx, account)) === undefined) {
        return refuseChange("InvalidInput", `there is no account "${account}"`);
      }
      const input = { ...given, principal: objectId, role: role.name };
      const id = assignmentId(input);
      if (stored.assignments.has(id)) {
        return refuseChange("RoleAssignmentAlreadyExists", `this role is assigned already (${id})`);
      }
      if (stored.assignments.size >= assignmentsMax) {
        return refuseChange("TooManyRoleAssignments", `there are ${assignmentsMax} already`);
      }
      putRecord(tx, storedAssignments, id, { createdAt: tx.now, input });
      return { ok: true, value: id };
    });
  }

  removeAssignment(id: string): Promise<ChangeResult<undefined>> {
    return this.#change(async (tx, stored) => {
      if (!stored.assignments.has(id)) {
        return refuseChange("RoleAssignmentNotFound", `no stored role assignment "${id}"`);
      }
      tx.delete(storedAssignments.key(id));
      return { ok: true, value: undefined };
    });
  }

  async #change<T>(
    work: (tx: Transaction, stored: StoredIdentity) => Promise<ChangeResult<T>>,
  ): Promise<ChangeResult<T>> {
    const result = await this.#store.transact(async (tx) => {
      const changed = await work(tx, await readIdentity(tx));
      if (changed.ok) putIdentityRevision(tx, this.#random);
      return changed;
    });
    if (result.ok) await this.#served.refresh();
    return result;
  }

  #putPrincipal(
    tx: Transaction,
    stored: StoredIdentity,
    {
      name,
      input,
      fields: { newSecret, ...fields },
    }: {
      readonly name: string;
      readonly input: PrincipalInput;
      readonly fields: PrincipalChange;
    },
  ): ChangeResult<PrincipalSettings> {
    const secret = newSecret === true ? { secret: this.#newSecret() } : {};
    const merged = Object.entries({ ...input, ...fields, ...secret });
    const next = Object.fromEntries(
      merged.filter(([, value]) => value !== null && value !== undefined),
    ) as unknown as PrincipalInput;
    const problems: string[] = [];
    const parsed = parsePrincipal(name, next, problems);
    if (problems.length > 0) return refuseChange("InvalidInput", problems.join("; "));
    const others = this.#allPrincipals(stored).filter(
      (each) => each.isStored !== true || each.name !== name,
    );
    const clash = findClash(parsed, others);
    if (clash !== undefined) return clash;
    const createdAt = stored.principals.get(name)?.createdAt ?? tx.now;
    putRecord(tx, storedPrincipals, name, { createdAt, input: next });
    return { ok: true, value: parsed };
  }

  /** All principals that a role may be assigned to: configured, developer identity and stored
   *  ones. */
  #allPrincipals({ principals }: StoredIdentity): readonly PrincipalSettings[] {
    const served = this.#served.identity().principals;
    const configured = served.filter((each) => each.isStored !== true);
    const own = [...principals].map(([name, { input }]) => ({
      ...parsePrincipal(name, input, []),
      isStored: true as const,
    }));
    return [...new Set([developerPrincipal, ...configured]), ...own];
  }

  #notStored(name: string): ChangeFault {
    const isServed = this.#served.identity().principals.some((each) => each.name === name);
    if (!isServed) return refuseChange("PrincipalNotFound", `no stored principal "${name}"`);
    const advice = "change the configuration of the server";
    return refuseChange("PrincipalIsConfigured", `principal "${name}" is configured: ${advice}`);
  }

  #newSecret(): string {
    return Buffer.from(this.#random.bytes(secretBytes)).toString("base64url");
  }
}

/** Gives the identities a new revision. A request of a caller with roles compares the revision in
 *  its transaction, so that all processes notice the change. */
function putIdentityRevision(tx: Transaction, random: Random): void {
  putRecord(tx, accountsState, "identity", { revision: newId(random), count: 0 });
}

/** Removes the stored role assignments of an account that is deleted in this transaction: another
 *  account with this name must not have them. */
export async function removeAccountAssignments(
  tx: Transaction,
  random: Random,
  name: string,
): Promise<void> {
  const stored = await readIdentity(tx);
  const count = removeAssignments(tx, stored, ({ account }) => account === name);
  if (count > 0) putIdentityRevision(tx, random);
}

/** Stores the role assignments of an account that a load creates in this transaction, or returns
 *  why they cannot be stored. */
export async function putAssignments(
  tx: Transaction,
  random: Random,
  { name, roleAssignments = [] }: Pick<AccountLoad, "name" | "roleAssignments">,
): Promise<string | undefined> {
  if (roleAssignments.length === 0) return undefined;
  const { assignments } = await readIdentity(tx);
  if (assignments.size + roleAssignments.length > assignmentsMax) {
    return `there would be more than ${assignmentsMax} stored role assignments`;
  }
  for (const given of roleAssignments) {
    const input = { ...given, account: name };
    putRecord(tx, storedAssignments, assignmentId(input), { createdAt: tx.now, input });
  }
  putIdentityRevision(tx, random);
  return undefined;
}

function removeAssignments(
  tx: Transaction,
  { assignments }: StoredIdentity,
  isRemoved: (input: RoleAssignmentInput) => boolean,
): number {
  const removed = [...assignments].filter(([, { input }]) => isRemoved(input));
  for (const [id] of removed) tx.delete(storedAssignments.key(id));
  return removed.length;
}

/** Finds a name or id of a principal that another principal or a group has: a login would find the
 *  wrong principal, or the roles of a group would apply to the principal. */
function findClash(
  principal: PrincipalSettings,
  others: readonly PrincipalSettings[],
): ChangeFault | undefined {
  const taken = new Set(others.flatMap(identityNames));
  const clash = identityNames(principal).find((each) => taken.has(each));
  if (clash !== undefined) {
    return refuseChange("PrincipalAlreadyExists", `"${clash}" names another principal`);
  }
  const groups = new Set(others.flatMap((each) => each.groups.map((id) => id.toLowerCase())));
  if (groups.has(principal.objectId.toLowerCase())) {
    return refuseChange("InvalidInput", `"${principal.objectId}" is the id of a group`);
  }
  const member = principal.groups.find((id) => taken.has(id.toLowerCase()));
  return member === undefined
    ? undefined
    : refuseChange("InvalidInput", `"${member}" is no group: it names another principal`);
}

function byName(roles: IdentitySettings["roles"]) {
  return new Map(
    roles.flatMap((role) => [
      [role.name.toLowerCase(), role] as const,
      ...(role.definition.id === undefined ? [] : [[role.definition.id, role] as const]),
    ]),
  );
}

function isSame(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}

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

const storedPrincipals = defineTable<string, PrincipalRecord>({
  name: "principals",
  tag: 0x60,
  key: (name) => [name],
  codec: recordCodec<PrincipalRecord>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

/** Role assignments by `assignmentId`. An archive has those of an account in its frame. */
const storedAssignments = defineTable<string, RoleAssignmentRecord>({
  name: "role-assignments",
  tag: 0x61,
  key: (id) => [id],
  codec: recordCodec<RoleAssignmentRecord>({ version: 1 }),
  owner: "store",
  ...internalRecord,
});

export const identityTables = [anyTable(storedPrincipals), anyTable(storedAssignments)];

/** The id of a role assignment, a hash: the same role for the same principal and scope has the same
 *  id, so that no two are stored. */
function assignmentId(input: RoleAssignmentInput): string {
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
