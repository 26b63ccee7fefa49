import type { Ticks } from "./ticks.ts";

/** What the outside gives a running server; tests pass a simulated one. */
export interface Clock {
  /** Wall time, for request dates and signatures. */
  wall(): Ticks;
  /** Ticks since an arbitrary start of this boot; never backwards, counts suspended time. */
  monotonic(): Ticks;
  /** Identifies the boot that `monotonic` counts from. */
  readonly bootId: string;
  /** Resolves after this long; the handle cancels. Never decides a state. */
  after(milliseconds: number, run: () => void): () => void;
}

export interface Random {
  bytes(count: number): Uint8Array;
}

export interface Log {
  /** Whether anyone reads what `debug` is told; making it up costs something. */
  readonly verbose?: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
