import type { Operation } from "./history.ts";
import type { Random } from "./random.ts";
import type { Recorder } from "./recorder.ts";
import type { Endpoints, Wire } from "./wire.ts";

/** What a client has at hand. */
export interface Setting {
  readonly wire: Wire;
  /** One of the servers, another one each time. */
  readonly server: () => Endpoints;
  readonly recorder: Recorder;
  readonly random: Random;
  /** Changes from time to time, for all clients at once, so that histories of keys stay short. */
  readonly epoch: () => number;
  /** A text that no other client and no other call uses. */
  readonly unique: () => string;
}

export interface Workload {
  readonly name: string;
  /** Once, before any client. Doing it twice does no harm. */
  setUp(setting: Setting): Promise<void>;
  /** A client: each call of the result does the next thing. */
  client(setting: Setting): () => Promise<void>;
  /** Once, when all faults are over: looks at what is left of each key. */
  finish(setting: Setting, keys: readonly string[]): Promise<void>;
  /** Every way in which the history breaks a promise; none if all are kept. */
  check(operations: readonly Operation[]): readonly string[];
}

export function isFine(status: number): boolean {
  return status < 300;
}

const setUpTriesMax = 50;

/** For what must succeed before clients can run. */
export async function insist(
  run: () => Promise<{ readonly status: number }>,
  ...statuses: readonly number[]
): Promise<void> {
  let last = 0;
  for (let tries = 0; tries < setUpTriesMax; tries += 1) {
    last = (await run().catch(() => ({ status: 0 }))).status;
    if (statuses.includes(last)) return;
  }
  throw new Error(`could not be set up: status ${last}`);
}
