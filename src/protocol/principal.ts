import type { ServiceName } from "./names.ts";
import type { Ticks } from "../base/ticks.ts";

/** The caller of a request as authentication has found it, with what its credentials say; the input
 *  of all checks of permissions. */

/** The kinds of callers. `key`: the request is signed with the first or second account key. */
export type Principal =
  | { readonly kind: "key"; readonly number: 1 | 2 }
  | AccountSasPrincipal
  | ServiceSasPrincipal
  | DelegationSasPrincipal
  | BearerPrincipal
  | { readonly kind: "anonymous" };

/** A SAS for services of an account, signed with an account key. */
export interface AccountSasPrincipal {
  readonly kind: "account-sas";
  readonly version: string;
  /** The services of the SAS, letters of the parameter `ss`: b, q, t, f. */
  readonly services: string;
  /** The resource types of the SAS, letters of `srt`: s (service), c (container), o (object). */
  readonly resourceTypes: string;
  /** The permissions of the SAS, letters of `sp`. */
  readonly permissions: string;
  readonly encryptionScope: string | undefined;
}

/** A SAS for one container, share, queue, table or an object in it, signed with an account key. */
export interface ServiceSasPrincipal {
  readonly kind: "service-sas";
  /** The parameter `sv`; empty for tokens that are older than that parameter. */
  readonly version: string;
  readonly resource: SasResource;
  /** Permission letters (`sp`); undefined if a stored access policy supplies them. */
  readonly permissions: string | undefined;
  readonly start: Ticks | undefined;
  readonly expiry: Ticks | undefined;
  /** Id of the stored policy that completes the SAS; undefined if there is none, or once
   *  `resolvePolicy` has applied it. */
  readonly identifier: string | undefined;
  readonly encryptionScope: string | undefined;
  readonly overrides: ResponseOverrides | undefined;
  /** The range of entities that a table SAS is limited to; undefined: no limit. */
  readonly entities: EntityRange | undefined;
}

/** A SAS for one resource, signed with a user delegation key, which belongs to a user and not to
 *  the account: the roles of the user limit it. */
export interface DelegationSasPrincipal {
  readonly kind: "delegation-sas";
  readonly version: string;
  readonly resource: SasResource;
  readonly permissions: string;
  readonly encryptionScope: string | undefined;
  readonly overrides: ResponseOverrides | undefined;
  /** The user whose delegation key signed the SAS. */
  readonly objectId: string;
  readonly tenantId: string;
  /** The user for whom the SAS was made; undefined if it names none. */
  readonly agent?: SasAgent | undefined;
}

/** The user for whom a user delegation SAS was made (`saoid`, `suoid`), on accounts with a
 *  hierarchical namespace. */
export interface SasAgent {
  readonly objectId: string;
  /** Whether the signer has authorised the user (`saoid`). Otherwise access control lists must
   *  permit each request of the user, too. */
  readonly isAuthorised: boolean;
}

/** A user or application with a bearer token (OAuth). */
export interface BearerPrincipal {
  readonly kind: "bearer";
  readonly objectId: string;
  /** Object ids of the groups that the token names; undefined for none. */
  readonly groups?: readonly string[] | undefined;
  readonly tenantId: string;
}

/** The resource that a SAS is valid for. `name` is the container, share, queue or table. */
export interface SasResource {
  readonly service: ServiceName;
  readonly kind: SasResourceKind;
  readonly name: string;
  /** The blob, file or directory in it; undefined for all of them. */
  readonly path: string | undefined;
  /** The id of a snapshot or version, as in the URL; empty if the SAS is for neither. */
  readonly snapshotOrVersion: string;
}

/** What kind of resource a SAS is for, by its parameter `sr`. */
export type SasResourceKind =
  | "container"
  | "blob"
  | "snapshot"
  | "version"
  | "directory"
  | "share"
  | "file"
  | "queue"
  | "table";

/** `rscc`, `rscd`, `rsce`, `rscl`, `rsct`: headers of the SAS that replace the stored ones in
 *  responses to reads. */
export interface ResponseOverrides {
  readonly "cache-control"?: string;
  readonly "content-disposition"?: string;
  readonly "content-encoding"?: string;
  readonly "content-language"?: string;
  readonly "content-type"?: string;
}

/** The range of entities that a table SAS is limited to; an undefined bound is open. */
export interface EntityRange {
  readonly startPartitionKey: string | undefined;
  readonly startRowKey: string | undefined;
  readonly endPartitionKey: string | undefined;
  readonly endRowKey: string | undefined;
}

export const keyPrincipal: Principal = { kind: "key", number: 1 };
export const secondKeyPrincipal: Principal = { kind: "key", number: 2 };
export const anonymousPrincipal: Principal = { kind: "anonymous" };

/** What a request with a bearer token can get credentials from: functions that derive keys and
 *  tokens for its caller from the account key. */
export interface Delegate {
  /** Derives a user delegation key. */
  readonly key: (request: DelegationRequest) => {
    readonly objectId: string;
    readonly tenantId: string;
    readonly value: string;
  };
  /** Creates a session for reading a container: a token and its key. */
  readonly session: (request: SessionRequest) => { readonly token: string; readonly key: string };
}

interface SessionRequest {
  readonly container: string;
  readonly expiry: Ticks;
}

/** Which user delegation key is to be derived: its validity, service and version. */
export interface DelegationRequest {
  readonly start: Ticks;
  readonly expiry: Ticks;
  /** The service that the key is for, as one letter: `b`, `q`, `t` or `f`. */
  readonly service: string;
  readonly version: string;
  /** The tenant of the users who may use tokens signed with the key; empty without a limit. */
  readonly delegatedUserTenantId: string;
}

/** The two keys that identify an entity within its table. */
export interface EntityKeys {
  readonly partitionKey: string;
  readonly rowKey: string;
}

/** Whether a table SAS is valid for an entity. Both bounds are inclusive and compare the pair of
 *  keys in order: with spk=A, srk=5 the entity (A, 4) is outside and (B, 1) inside. */
export function coversEntity(principal: Principal, entity: EntityKeys): boolean {
  if (principal.kind !== "service-sas" || principal.entities === undefined) return true;
  const { startPartitionKey, startRowKey, endPartitionKey, endRowKey }: EntityRange =
    principal.entities;
  const { partitionKey, rowKey } = entity;
  if (startPartitionKey !== undefined) {
    if (partitionKey < startPartitionKey) return false;
    const atBound = partitionKey === startPartitionKey;
    if (atBound && startRowKey !== undefined && rowKey < startRowKey) return false;
  }
  if (endPartitionKey !== undefined) {
    if (partitionKey > endPartitionKey) return false;
    const atBound = partitionKey === endPartitionKey;
    if (atBound && endRowKey !== undefined && rowKey > endRowKey) return false;
  }
  return true;
}
