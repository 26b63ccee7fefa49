import { createHash } from "node:crypto";
import type { RawAnswer, RawCall, RawClient } from "../harness/raw-client.ts";

export type Service = "blob" | "table" | "queue" | "file";
export interface Clients extends Readonly<Record<Service, RawClient>> {
  /** The blob service of an account with a hierarchical namespace, with both APIs. */
  readonly tree: RawClient;
  /** The URL prefix with which a rename names its source. */
  readonly fileUrl: string;
  readonly smbUrl: string;
}

/** The state of a stored object, in a form that its workload defines; `undefined`: absent. */
export type State = string | undefined;

/** A write that moves an object from one state to the next atomically. */
export interface Step {
  readonly state: State;
  /** Number of writes that its response acknowledges: a transaction counts each of its entities. */
  readonly writes: number;
  /** Resolves when it is acknowledged. */
  send(clients: Clients): Promise<void>;
}

/** A kind of stored object, and the writes with which one client changes it repeatedly. */
export interface KillWorkload {
  readonly name: string;
  setUp(clients: Clients): Promise<void>;
  next(key: string, state: State, turn: number): Step;
  /** Reads the object once; the result tests whether a state equals what was read. */
  look(clients: Clients, key: string): Promise<(state: State) => boolean>;
}

/** Text that is unique to one version of one object; any other text is damage. */
export function textOf(key: string, version: string, length: number): string {
  const seed = createHash("sha256").update(`${key}:${version}`).digest("hex");
  return `${version}\n${seed.repeat(Math.ceil(length / seed.length))}`.slice(0, length);
}

export async function must(
  client: RawClient,
  call: RawCall,
  ...statuses: readonly number[]
): Promise<RawAnswer> {
  const answer = await client.send(call);
  if (statuses.includes(answer.status)) return answer;
  throw new Error(`${call.method} ${call.path}: ${answer.status} ${answer.body.toString()}`);
}
