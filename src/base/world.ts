import type { Ticks } from "./ticks.ts";

/** The clock of a running server; tests use a manual one. */
export interface Clock {
  /** Wall time, for request dates and signatures. */
  wall(): Ticks;
  /** Ticks since an arbitrary point before or at this boot. Never decreases; counts suspended
   *  time. */
  monotonic(): Ticks;
  /** Identifies the boot that `monotonic` counts from. */
  readonly bootId: string;
  /** Calls `run` after this time; the returned function cancels it. Timers only trigger work: what
   *  a request may do depends on store time alone. */
  after(milliseconds: number, run: () => void): () => void;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export interface Log {
  /** Whether `debug` messages are written. Callers skip building costly fields otherwise;
   *  `undefined` means no. */
  readonly verbose?: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
