import fc from "fast-check";

import { successor } from "../../encoding/keys.ts";
import type { Entry, Key, Store, Transaction } from "../store.ts";
import { below, bytes, k, text } from "./store-steps.ts";

/** What one transaction does to a line of numbers. */
export interface LineStep {
  readonly kind: "put" | "delete" | "take" | "walk";
  /** What it puts or deletes. */
  readonly place: number;
  /** What it takes at most, once or (a walk) twice, of what lies before `end`. */
  readonly limit: number;
  readonly end: number;
  /** This one of those found stays where it is. */
  readonly keep: number;
  /** How far the others are moved; zero takes them away. */
  readonly move: number;
  /** Otherwise it runs at once, on a state that may be gone when its turn comes. */
  readonly runInBatch: boolean;
}

/** A step and what it found, in the order of commits. */
export interface Witness extends LineStep {
  readonly found: readonly number[];
}

const placeMax = 30;
const witnessesMax = 10_000;
const attemptsMax = 10_000;

export const lineStep: fc.Arbitrary<LineStep> = fc.record({
  kind: fc.constantFrom("take", "take", "take", "put", "put", "delete", "walk"),
  place: fc.integer({ min: 0, max: placeMax }),
  limit: fc.integer({ min: 1, max: 3 }),
  end: fc.integer({ min: 5, max: placeMax + 1 }),
  keep: fc.nat(4),
  move: fc.oneof(fc.constant(0), fc.integer({ min: -6, max: 6 })),
  runInBatch: fc.boolean(),
});

/** Its witness is a put to a key of its own: a count of all would make all lean on each other. */
export function runLineStep(store: Store, step: LineStep, name: string): Promise<void> {
  const { runInBatch } = step;
  const work = async (tx: Transaction): Promise<void> => {
    const witness: Witness = { ...step, found: await apply(tx, step) };
    tx.put(k("witness", name), bytes(JSON.stringify(witness)));
  };
  return store.transact(work, { runInBatch, attemptsMax });
}

/** Stamps tell the order in which transactions were committed. */
export async function witnessesOf(store: Store): Promise<Witness[]> {
  const bounds = { ...below("witness"), limit: witnessesMax };
  const entries = await store.snapshot((view) => view.take(bounds));
  const inOrder = entries.toSorted((left, right) => (left.revision ?? 0) - (right.revision ?? 0));
  return inOrder.map(({ value }) => JSON.parse(text(value) ?? "") as Witness);
}

export async function lineOf(store: Store): Promise<number[]> {
  const bounds = { ...below("line"), limit: placeMax * 2 };
  return store.snapshot(async (view) => (await view.take(bounds)).map(numberOf));
}

/** The same steps on a set, one after the other: what each finds, and what is left in the end. */
export function doneAlone(steps: readonly LineStep[]) {
  const present = new Set<number>();
  const found = steps.map((step) => foundAlone(present, step));
  return { found, line: inOrderOf(present) };
}

async function apply(tx: Transaction, step: LineStep): Promise<number[]> {
  if (step.kind === "put") putPlace(tx, step.place);
  if (step.kind === "delete") tx.delete(k("line", step.place));
  if (step.kind === "put" || step.kind === "delete") return [];
  const found = await findFrom(tx, below("line").start, step);
  const last = found.length === step.limit ? found.at(-1) : undefined;
  if (step.kind === "walk" && last !== undefined) {
    found.push(...(await findFrom(tx, successor(last.key), step)));
  }
  const places = found.map(numberOf);
  for (const [index, place] of places.entries()) {
    if (index === step.keep) continue;
    tx.delete(k("line", place));
    if (movesOn(step, place)) putPlace(tx, place + step.move);
  }
  return places;
}

async function findFrom(tx: Transaction, start: Key, step: LineStep): Promise<Entry[]> {
  return [...(await tx.take({ start, end: k("line", step.end), limit: step.limit }))];
}

function foundAlone(present: Set<number>, step: LineStep): number[] {
  if (step.kind === "put") present.add(step.place);
  if (step.kind === "delete") present.delete(step.place);
  if (step.kind === "put" || step.kind === "delete") return [];
  const countMax = step.kind === "walk" ? 2 * step.limit : step.limit;
  const places = inOrderOf(present).filter((place) => place < step.end);
  const found = places.slice(0, countMax);
  for (const [index, place] of found.entries()) {
    if (index === step.keep) continue;
    present.delete(place);
    if (movesOn(step, place)) present.add(place + step.move);
  }
  return found;
}

function movesOn({ move }: LineStep, place: number): boolean {
  return move !== 0 && place + move >= 0 && place + move <= placeMax;
}

function putPlace(tx: Transaction, place: number): void {
  tx.put(k("line", place), bytes(`${place}`));
}

function numberOf({ value }: Entry): number {
  return Number(text(value));
}

function inOrderOf(present: ReadonlySet<number>): number[] {
  return [...present].toSorted((left, right) => left - right);
}
