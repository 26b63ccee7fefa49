import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { Health, HealthHistory } from "../../../src/admin/api-types.ts";

export type { HealthSample, Health } from "../../../src/admin/api-types.ts";

export const getHealth = (signal?: AbortSignal): Promise<Result<Health>> =>
  admin("health", { signal });

/** The samples of the last ten minutes (every second) or of the last day (every minute), also from
 *  before the page was opened. */
export const getHealthHistory = (
  everySeconds: 1 | 60,
  signal?: AbortSignal,
): Promise<Result<HealthHistory>> =>
  admin("health/history", { query: { every: everySeconds }, signal });
