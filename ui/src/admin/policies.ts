import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { ServiceName } from "./server.ts";

export interface PolicyTarget {
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
}

/** A stored access policy; times are ISO 8601. */
export interface Policy {
  readonly id: string;
  readonly start?: string | undefined;
  readonly expiry?: string | undefined;
  readonly permission?: string | undefined;
}

export interface PoliciesView {
  /** Only of containers. */
  readonly publicAccess?: string;
  readonly lastModified?: string;
  readonly policies: readonly Policy[];
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
