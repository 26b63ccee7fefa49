/** The response of `/admin/v1/health`: rates since the previous request, and totals. */
export interface Health {
  readonly now: string;
  readonly uptimeSeconds: number;
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
  readonly operations: readonly {
    readonly service: string;
    readonly operation: string;
    readonly total: number;
    readonly perSecond: number;
  }[];
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
