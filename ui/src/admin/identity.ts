import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { ServiceName } from "./server.ts";

export interface PrincipalInfo {
  readonly name: string;
  readonly objectId: string;
  readonly clientId: string;
  readonly groups: readonly string[];
  readonly hasSecret: boolean;
}

export interface RoleInfo {
  readonly name: string;
  readonly id?: string;
  readonly isBuiltIn: boolean;
  readonly actions: readonly string[];
  readonly notActions: readonly string[];
  readonly dataActions: readonly string[];
  readonly notDataActions: readonly string[];
}

export interface AssignmentInfo {
  readonly objectId: string;
  /** Name of the local principal with this object id. */
  readonly principal?: string;
  readonly role: string;
  /** Undefined for all accounts. */
  readonly account?: string;
  readonly scope?: { readonly service: ServiceName; readonly name: string };
}

export interface Identity {
  /** Whether roles decide about tokens. */
  readonly rolesDecide: boolean;
  readonly principals: readonly PrincipalInfo[];
  readonly roles: readonly RoleInfo[];
  readonly assignments: readonly AssignmentInfo[];
  readonly issuers?: readonly { readonly issuer: string; readonly audiences: readonly string[] }[];
}

export const getIdentity = (signal?: AbortSignal): Promise<Result<Identity>> =>
  admin("identity", { signal });
