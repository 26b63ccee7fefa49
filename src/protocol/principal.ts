import type { ServiceName } from "./service-name.ts";
import type { Ticks } from "../base/ticks.ts";

/** Who asks, as far as the credentials prove it. What they may do is decided by `authorise`. */
export type Principal =
  | { readonly kind: "key" }
  | AccountSasPrincipal
  | ServiceSasPrincipal
  | DelegationSasPrincipal
  | BearerPrincipal
  | { readonly kind: "anonymous" };

export interface AccountSasPrincipal {
  readonly kind: "account-sas";
  readonly version: string;
  /** Letters of `ss`: b, q, t, f. */
  readonly services: string;
  /** Letters of `srt`: s, c, o. */
  readonly resourceTypes: string;
  /** Letters of `sp`. */
  readonly permissions: string;
  readonly encryptionScope: string | undefined;
}

export interface ServiceSasPrincipal {
  readonly kind: "service-sas";
  /** `sv`; empty for tokens older than that parameter. */
  readonly version: string;
  readonly resource: SasResource;
  /** Unknown while a stored policy has still to supply it. */
  readonly permissions: string | undefined;
  readonly start: Ticks | undefined;
  readonly expiry: Ticks | undefined;
  /** The stored policy to look up in the resource's record; gone once `resolvePolicy` did. */
  readonly identifier: string | undefined;
  readonly encryptionScope: string | undefined;
  readonly overrides: ResponseOverrides | undefined;
  /** The entities a table token is limited to. */
  readonly entities: EntityRange | undefined;
}

export interface DelegationSasPrincipal {
  readonly kind: "delegation-sas";
  readonly version: string;
  readonly resource: SasResource;
  readonly permissions: string;
  readonly encryptionScope: string | undefined;
  readonly overrides: ResponseOverrides | undefined;
  /** Whose delegation key signed it. */
  readonly objectId: string;
  readonly tenantId: string;
}

export interface BearerPrincipal {
  readonly kind: "bearer";
  readonly objectId: string;
  readonly tenantId: string;
}

/** What the token's signature covers. `name` is the container, share, queue or table. */
export interface SasResource {
  readonly service: ServiceName;
  readonly kind: SasResourceKind;
  readonly name: string;
  /** The blob, file or directory below it. */
  readonly path: string | undefined;
  /** The snapshot or version id, as it stands in the URL. */
  readonly moment?: string | undefined;
}

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

/** `rscc` and its like: headers that a read answers instead of the stored ones. */
export interface ResponseOverrides {
  readonly "cache-control"?: string;
  readonly "content-disposition"?: string;
  readonly "content-encoding"?: string;
  readonly "content-language"?: string;
  readonly "content-type"?: string;
}

export interface EntityRange {
  readonly startPartitionKey: string | undefined;
  readonly startRowKey: string | undefined;
  readonly endPartitionKey: string | undefined;
  readonly endRowKey: string | undefined;
}

export const keyPrincipal: Principal = { kind: "key" };
export const anonymousPrincipal: Principal = { kind: "anonymous" };
