import type { ServiceName } from "../../../src/protocol/service-name.ts";
import type { PlainMode } from "../plain-modes.ts";
import type { Client, Target } from "../target.ts";

/** A container, table, queue or share, and how many objects lie in it before a run. */
export interface Site {
  readonly name: string;
  readonly stored: number;
}

/** One of those that repeat a step; it knows its number, so that workers can keep apart. */
export interface Worker {
  readonly client: Client;
  readonly index: number;
  readonly count: number;
  /** Whether the run's time is up; only steps that may go on for long need to ask. */
  isOver(): boolean;
}

/** What a worker does again and again. False: there was nothing to count, and the worker ends. */
export type Step = (worker: Worker) => Promise<boolean | void>;

export interface Prepared {
  readonly step: Step;
  /** Puts back what a run has used up. */
  readonly refill?: () => Promise<void>;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly service: ServiceName;
  /** Objects that lie there before, unless a run asks for more. */
  readonly stored: number;
  /** Whether Azurite can do it, too. */
  readonly azurite: boolean;
  /** The plain server that does what cannot be left out. */
  readonly plain?: PlainMode;
  readonly secure?: boolean;
  /** Of content, moved by one step. */
  readonly mebibytes?: number;
  /** Creates the site with its objects. */
  fill(target: Target, site: Site): Promise<void>;
  start(target: Target, site: Site): Promise<Prepared>;
}

/** Steps that need an object for each worker share so many, spread over all that are stored. */
export const sharedObjects = 1000;

/** Which of the stored objects the `turn`-th step takes: all of them, in leaps. */
export function anyObject({ stored }: Site, turn: number): number {
  return (turn * 7919) % stored;
}

/** The number of one of the shared objects that belongs to this worker alone. */
export function ownNumber(site: Site, { index, count }: Worker, turn: number): number {
  const objects = Math.min(sharedObjects, site.stored);
  const span = Math.max(1, Math.floor(objects / count));
  return (index * span + (turn % span)) % objects;
}

/** Where the shared object of this number lies among all that are stored. */
export function spread({ stored }: Site, number: number): number {
  return number * Math.max(1, Math.floor(stored / sharedObjects));
}
