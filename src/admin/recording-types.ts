import type { ServiceName } from "../protocol/names.ts";
import type { TimelineEntry, Wait } from "./api-types.ts";

/** What a client held, from when to when; `to` is absent while it does. */
export interface HoldSpan {
  readonly kind: "lease" | "open" | "lock" | "message";
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  /** Absent if it is not known. */
  readonly client?: string | undefined;
  readonly what: string;
  readonly from: string;
  readonly to?: string | undefined;
}

/** A client that waited for another. */
export interface WaitSpan {
  readonly kind: Wait["kind"];
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly waiter: string;
  readonly operation: string;
  readonly holder: string;
  readonly what: string;
  readonly isDeadlock: boolean;
  readonly from: string;
  readonly to?: string | undefined;
}

/** A recorded request, a stored state, or the end of a lease. */
export interface RecordedEvent extends TimelineEntry {
  readonly service: string;
  readonly account: string;
  readonly container: string;
  readonly action?: string;
  readonly id?: string;
  /** The duration of an acquired lease; -1 if it has no end. */
  readonly durationSeconds?: number;
  /** Of a break: until the lease ends. */
  readonly secondsLeft?: number;
}

/** What happened in a period: requests without contents and keys, and what clients held. */
export interface Recording {
  readonly format: "etagere-recording";
  readonly version: 1;
  readonly server: string;
  readonly from: string;
  readonly to: string;
  /** Since when requests are recorded: before that nothing is known. */
  readonly recordedSince: string;
  /** Oldest first. */
  readonly events: readonly RecordedEvent[];
  readonly spans: readonly HoldSpan[];
  readonly waits: readonly WaitSpan[];
}
