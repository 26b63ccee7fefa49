import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { ChangedPrincipal } from "../../../src/admin/identity/identity-changes.ts";
import type { Identity } from "../../../src/admin/identity/identity-view.ts";

export type { ChangedPrincipal } from "../../../src/admin/identity/identity-changes.ts";
export type {
  AssignmentInfo,
  Identity,
  PrincipalInfo,
  RoleInfo,
} from "../../../src/admin/identity/identity-view.ts";

export const getIdentity = (signal?: AbortSignal): Promise<Result<Identity>> =>
  admin("identity", { signal });

const pathOf = (name: string): string => `principals/${encodeURIComponent(name)}`;

export const createPrincipal = (fields: object): Promise<Result<ChangedPrincipal>> =>
  admin("principals", { method: "POST", body: fields });

/** Changes the given fields; null removes one. */
export const changePrincipal = (name: string, fields: object): Promise<Result<ChangedPrincipal>> =>
  admin(pathOf(name), { method: "PATCH", body: fields });

export const deletePrincipal = (name: string): Promise<Result<unknown>> =>
  admin(pathOf(name), { method: "DELETE" });

export const assignRole = (assignment: object): Promise<Result<unknown>> =>
  admin("role-assignments", { method: "POST", body: assignment });

export const deleteAssignment = (id: string): Promise<Result<unknown>> =>
  admin(`role-assignments/${encodeURIComponent(id)}`, { method: "DELETE" });
