import type { Ticks } from "../base/ticks.ts";

/** Derives a user delegation key for the caller of a request with a bearer token. */
export type Delegate = (request: DelegationRequest) => {
  readonly objectId: string;
  readonly tenantId: string;
  readonly value: string;
};

/** What a user delegation key is valid for. */
export interface DelegationRequest {
  readonly start: Ticks;
  readonly expiry: Ticks;
  /** The letter of the service: `b`, `q`, `t` or `f`. */
  readonly service: string;
  readonly version: string;
  readonly delegatedUserTenantId: string;
}
