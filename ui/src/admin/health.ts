import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { HistoryView } from "../../../src/admin/views/health-history.ts";
import type { HealthView } from "../../../src/admin/views/health.ts";

export type { HealthSample } from "../../../src/admin/views/health-history.ts";
export type { HealthView } from "../../../src/admin/views/health.ts";

export const getHealth = (signal?: AbortSignal): Promise<Result<HealthView>> =>
  admin("health", { signal });

/** The samples of the last ten minutes (every second) or of the last day (every minute), also from
 *  before the page was opened. */
export const getHealthHistory = (
  everySeconds: 1 | 60,
  signal?: AbortSignal,
): Promise<Result<HistoryView>> =>
  admin("health/history", { query: { every: everySeconds }, signal });
