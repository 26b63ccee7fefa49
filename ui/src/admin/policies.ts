import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { ServiceName } from "./server.ts";
import type { PoliciesView } from "../../../src/admin/views/policies.ts";

export type { Policy, PoliciesView } from "../../../src/admin/views/policies.ts";

export interface PolicyTarget {
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
}

export const getPolicies = (
  target: PolicyTarget,
  signal?: AbortSignal,
): Promise<Result<PoliciesView>> => admin("policies", { query: { ...target }, signal });

export const setPolicies = (
  target: PolicyTarget,
  change: PoliciesView & { readonly unmodifiedSince?: string | undefined },
): Promise<Result<unknown>> =>
  admin("policies", { method: "POST", body: { ...target, ...change } });
