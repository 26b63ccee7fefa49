import type { Ticks } from "../base/ticks.ts";

export type Delegate = (request: DelegationRequest) => {
  readonly objectId: string;
  readonly tenantId: string;
  readonly value: string;
};

export interface DelegationRequest {
  readonly start: Ticks;
  readonly expiry: Ticks;
  /** `b`, `q`, `t` or `f`. */
  readonly service: string;
  readonly version: string;
  readonly delegatedUserTenantId: string;
}
