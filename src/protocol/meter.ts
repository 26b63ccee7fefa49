import type { ServiceName } from "./service-name.ts";

/** What a running server counts. Calls are cheap and never fail; tests pass `noMeter`. */
export interface Meter {
  request(done: RequestDone): void;
  /** One flushed batch of the store's group committer. */
  commit(batch: { readonly transactions: number; readonly conflicts: number }): void;
  contentBytes(direction: "received" | "sent", count: number): void;
}

export interface RequestDone {
  readonly service: ServiceName;
  /** The declaration's name, or `none` where no operation matched. */
  readonly operation: string;
  readonly status: number;
  readonly seconds: number;
}

export const noMeter: Meter = { request() {}, commit() {}, contentBytes() {} };
