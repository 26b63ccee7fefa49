import { createHash } from "node:crypto";
import type { RawAnswer, RawCall, RawClient } from "../harness/raw-client.ts";

export type Service = "blob" | "table" | "queue" | "file";
export interface Clients extends Readonly<Record<Service, RawClient>> {
  /** What a rename names its source by. */
  readonly fileUrl: string;
  readonly smbUrl: string;
}

/** What a stored object is, in words of its door; `undefined` is "not there". */
export type State = string | undefined;

/** A write that leads from one state of an object to the next, whole or not at all. */
export interface Step {
  readonly state: State;
  /** How many writes are acknowledged by its answer: a transaction counts each of its entities. */
  readonly writes: number;
  /** Resolves when it is acknowledged. */
  send(clients: Clients): Promise<void>;
}

/** A kind of stored object, and how one client of its own changes it again and again. */
export interface KillWorkload {
  readonly name: string;
  setUp(clients: Clients): Promise<void>;
  next(key: string, state: State, turn: number): Step;
  /** Reads the object once, and tells of any state whether this is it. */
  look(clients: Clients, key: string): Promise<(state: State) => boolean>;
}

/** Text that no other version of any other object has; anything else that is found is damage. */
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
