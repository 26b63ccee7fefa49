import type { ServiceName } from "../../../src/protocol/names.ts";
import type { PlainMode } from "../plain-modes.ts";
import type { Client, Target } from "../target.ts";

/** A container, table, queue or share, and its number of objects before a run. */
export interface Site {
  readonly name: string;
  readonly stored: number;
}

/** One concurrent client; its number lets workers use separate objects. */
export interface Worker {
  readonly client: Client;
  readonly index: number;
  readonly count: number;
  /** Whether the run is over; long steps check it. */
  isOver(): boolean;
}

/** The repeated action. Returns false if there was nothing to do, which ends the worker. */
export type Step = (worker: Worker) => Promise<boolean | void>;

export interface Prepared {
  readonly step: Step;
  /** Restores what a run has consumed. */
  readonly refill?: () => Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly service: ServiceName;
  /** Default number of stored objects. */
  readonly stored: number;
  /** Whether Azurite supports the operation. */
  readonly azurite: boolean;
  /** Mode of the plain server with the same unavoidable work. */
  readonly plain?: PlainMode;
  readonly secure?: boolean;
  /** Runs on an account with a hierarchical namespace. */
  readonly hierarchical?: boolean;
  /** Content bytes per step. */
  readonly mebibytes?: number;
  /** Creates the container and its objects. */
  fill(target: Target, site: Site): Promise<void>;
  start(target: Target, site: Site): Promise<Prepared>;
}

/** The container, table, queue or share of an operation on a server that serves all of them. */
export function siteOf({ name, stored }: Scenario): Site {
  return { name: name.replaceAll(/[^a-z0-9]/gi, "").toLowerCase(), stored };
}

/** Number of objects that workers share, spread over all stored ones. */
export const sharedObjects = 1000;

/** The object of the `turn`-th step: all objects, in a scattered order. */
export function anyObject({ stored }: Site, turn: number): number {
  return (turn * 7919) % stored;
}

/** The number of a shared object that only this worker uses. */
export function ownNumber(site: Site, { index, count }: Worker, turn: number): number {
  const objects = Math.min(sharedObjects, site.stored);
  const span = Math.max(1, Math.floor(objects / count));
  return (index * span + (turn % span)) % objects;
}

/** The index of a shared object among all stored ones. */
export function spread({ stored }: Site, number: number): number {
  return number * Math.max(1, Math.floor(stored / sharedObjects));
}
