import type { Result } from "../result.ts";
import { admin } from "./call.ts";

/** Rates over the last `overSeconds` before `now`. */
export interface HealthSample {
  readonly now: string;
  readonly overSeconds: number;
  readonly requests: {
    readonly total: number;
    readonly perSecond: number;
    readonly refusedPerSecond: number;
    readonly errorsPerSecond: number;
  };
  readonly services: Readonly<
    Record<
      string,
      {
        readonly total: number;
        readonly perSecond: number;
        readonly latencySeconds?: {
          readonly p50: number;
          readonly p90: number;
          readonly p99: number;
        };
      }
    >
  >;
  readonly store: {
    readonly transactions: number;
    readonly perSecond: number;
    readonly conflictsPerSecond: number;
    readonly bytes?: number;
    readonly batch?: { readonly mean: number; readonly p50: number; readonly p99: number };
  };
  readonly content: {
    readonly bytes?: number;
    readonly liveBytes?: number;
    readonly reclaimableBytes?: number;
    readonly receivedBytesPerSecond: number;
    readonly sentBytesPerSecond: number;
  };
  readonly process: {
    readonly residentBytes: number;
    readonly heapUsedBytes: number;
    readonly cpuPercent: number;
  };
}

/** The response of `/admin/v1/health`: a sample, and totals. */
export interface Health extends HealthSample {
  readonly uptimeSeconds: number;
  readonly operations: readonly {
    readonly service: string;
    readonly operation: string;
    readonly total: number;
    readonly perSecond: number;
  }[];
  readonly slowOperations: readonly {
    readonly service: string;
    readonly operation: string;
    readonly total: number;
    readonly meanSeconds: number;
    readonly maxSeconds: number;
  }[];
}

export interface HealthHistory {
  readonly everySeconds: number;
  /** Oldest first. */
  readonly samples: readonly HealthSample[];
}

export const getHealth = (signal?: AbortSignal): Promise<Result<Health>> =>
  admin("health", { signal });

/** The samples of the last hour, also from before the page was opened. */
export const getHealthHistory = (signal?: AbortSignal): Promise<Result<HealthHistory>> =>
  admin("health/history", { signal });
