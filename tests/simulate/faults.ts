import type { Moments } from "./moments.ts";

/** What may go wrong, as probabilities per operation and as conditions that a fault begins and
 *  ends. All of it is decided by the seed. */
export interface FaultRates {
  /** A commit that cannot be flushed. */
  readonly failingCommit: number;
  /** A flush of an extent that fails. */
  readonly failingFlush: number;
  /** A message after which the connection is lost. */
  readonly lostConnection: number;
  /** A message that never arrives, with all after it, while the connection seems open. */
  readonly stalledConnection: number;
  /** A commit that keeps the event loop until it is flushed. */
  readonly blockingCommit: number;
  /** A statement whose connection is lost before or after it is executed; nodes only. */
  readonly lostQuery: number;
  /** A statement that arrives late, and without a response; nodes only. */
  readonly stalledQuery: number;
  /** A request to the bucket that fails, is lost before or after its effect, or is late. */
  readonly failingBucket: number;
}

export const noFaults: FaultRates = {
  failingCommit: 0,
  failingFlush: 0,
  lostConnection: 0,
  stalledConnection: 0,
  blockingCommit: 0,
  lostQuery: 0,
  stalledQuery: 0,
  failingBucket: 0,
};

export interface Latencies {
  readonly networkMicroseconds: readonly [number, number];
  readonly diskMicroseconds: readonly [number, number];
  /** Each way between a node and the bucket. */
  readonly bucketMicroseconds: readonly [number, number];
  /** How fast responses are received; 0: at once. */
  readonly bytesPerMillisecond: number;
}

/** Conditions of a machine that change during a run. */
export interface Conditions {
  isDiskFull: boolean;
  /** Multiplies the latency of the disk. */
  diskSlowness: number;
  /** False at the end of a run, when everything works. */
  hasFaults: boolean;
  readonly moments: Moments;
}

export type FaultCounts = Map<string, number>;

export function count(counts: FaultCounts, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
