import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { ServiceName } from "./server.ts";

export interface Holder {
  readonly client: string;
  readonly open?: string;
  readonly lease?: string;
  readonly what: string;
}

/** A client that waits for a lock, for a break of a caching grant, or for a lease. */
export interface Wait {
  readonly kind: "lock" | "break" | "lease";
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly waiter: {
    readonly client: string;
    readonly operation: string;
    readonly agent?: string;
  };
  readonly since: string;
  readonly seconds: number;
  /** Rejected requests, for a lease. */
  readonly attempts?: number;
  readonly holders: readonly Holder[];
}

export interface WaitsView {
  readonly now: string;
  readonly waits: readonly Wait[];
  /** Clients that wait for each other. */
  readonly cycles: readonly (readonly string[])[];
}

export const getWaits = (signal?: AbortSignal): Promise<Result<WaitsView>> =>
  admin("waits", { signal });

/** Names per service, counted up to 1,000. */
export interface StoredView {
  /** Absent for an account without a quota. */
  readonly quotaBytes?: number;
  /** Absent without a quota, and until the server has counted the bytes. */
  readonly usedBytes?: number;
  readonly services: Readonly<
    Record<ServiceName, { readonly count: number; readonly isComplete: boolean }>
  >;
}

export const getStored = (account: string, signal?: AbortSignal): Promise<Result<StoredView>> =>
  admin("stored", { query: { account }, signal });
