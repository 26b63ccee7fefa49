import type { Operation } from "./history.ts";
import type { SeenEvent } from "./change-events.ts";
import type { Random } from "./random.ts";
import type { Recorder } from "./recorder.ts";
import type { SmbTransport } from "./smb-connection.ts";
import type { Answer, Endpoints, Sent, ServiceName } from "./wire.ts";

/** Sends requests; rejects without a response, with NeverSent if there was no effect. */
export interface Sender {
  send(request: Sent): Promise<Answer>;
}

/** What a client uses. */
export interface Setting {
  readonly wire: Sender;
  /** One of the servers, alternating. */
  readonly server: () => Endpoints;
  /** How SMB clients of a simulation reach a server. */
  readonly smb?: SmbTransport | undefined;
  readonly recorder: Recorder;
  readonly random: Random;
  /** Changes periodically for all clients, so that histories of keys stay short. */
  readonly epoch: () => number;
  /** A text that no other client and no other call uses. */
  readonly unique: () => string;
  /** The events that the webhook has got, in the order of their arrival; only for `finish`. */
  readonly delivered?: (() => readonly SeenEvent[]) | undefined;
  /** Lets simulated time pass. */
  readonly pause?: ((seconds: number) => Promise<void>) | undefined;
}

export interface Workload {
  readonly name: string;
  /** Whose objects it uses. */
  readonly service: ServiceName;
  /** Called once before any client; idempotent. */
  setUp(setting: Setting): Promise<void>;
  /** A client: each call performs its next operation. */
  client(setting: Setting): () => Promise<void>;
  /** Called once after all faults: reads the final state of each key. */
  finish(setting: Setting, keys: readonly string[]): Promise<void>;
  /** All violations in the history. */
  check(operations: readonly Operation[]): readonly string[];
}

export function isFine(status: number): boolean {
  return status < 300;
}

const setUpTriesMax = 50;

/** For requests that must succeed before clients can run. */
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

/** The `setUp` of workloads whose clients use a share of their own. */
export function shareSetUp(share: string): Workload["setUp"] {
  const creation = { service: "file", method: "PUT", path: `/${share}?restype=share` } as const;
  return ({ wire }) => insist(() => wire.send(creation), 201, 409);
}
