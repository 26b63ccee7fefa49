import type { ServiceName } from "./names.ts";

/** The interface through which stores and listeners report what they do to the metrics of a server
 *  (`server/metrics.ts` implements it). */

/** Receives the metrics of a running server. Calls are cheap and never fail; tests pass
 *  `noMeter`. */
export interface Meter {
  request(done: RequestDone): void;
  /** Counts one flushed commit batch: several transactions that were committed together. */
  commit(batch: { readonly transactions: number; readonly conflicts: number }): void;
  contentBytes(direction: "received" | "sent", count: number): void;
  /** Bytes that the scrub (a background check of stored content) has compared with their checksums,
   *  and how many slices differ. */
  scrubbed?(bytes: number, problems: number): void;
}

/** A request whose response was sent. */
export interface RequestDone {
  readonly service: ServiceName;
  /** Name of the operation; `none` if none was selected. */
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
}

/** For tests, which record no metrics. */
export const noMeter: Meter = { request() {}, commit() {}, contentBytes() {} };
