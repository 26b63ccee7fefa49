import fc from "fast-check";

import { successor } from "../../../src/encoding/keys.ts";
import type { Entry, Key, Store, Transaction } from "../../../src/store/store.ts";
import { below, bytes, k, text } from "./store-steps.ts";
import { expect } from "vitest";

/** One transaction on a queue, which is a range of numbered entries. */
export interface QueueStep {
  readonly kind: "put" | "delete" | "read" | "read-twice";
  /** Position of the entry that a put or delete concerns. */
  readonly position: number;
  /** Entries that a head read returns at most, of those before `end`. `read-twice` reads on after
   *  the last one. */
  readonly limit: number;
  readonly end: number;
  /** Of the entries that are read, the index of the one that stays. */
  readonly keep: number;
  /** Distance by which the other entries read are moved; 0 deletes them. */
  readonly move: number;
  /** If false the first attempt runs before the batch, on a state that may be stale at commit. */
  readonly runInBatch: boolean;
}

/** A step and the positions that it read, in commit order. */
export interface CommittedStep extends QueueStep {
  readonly found: readonly number[];
}

const positionMax = 30;
const committedStepsMax = 10_000;
const attemptsMax = 10_000;

export const queueStep: fc.Arbitrary<QueueStep> = fc.record({
  kind: fc.constantFrom("read", "read", "read", "put", "put", "delete", "read-twice"),
  position: fc.integer({ min: 0, max: positionMax }),
  limit: fc.integer({ min: 1, max: 3 }),
  end: fc.integer({ min: 5, max: positionMax + 1 }),
  keep: fc.nat(4),
  move: fc.oneof(fc.constant(0), fc.integer({ min: -6, max: 6 })),
  runInBatch: fc.boolean(),
});

/** Runs a step and records its result under a key of its own. A shared counter would make all
 *  transactions depend on each other. */
export function runQueueStep(store: Store, step: QueueStep, name: string): Promise<void> {
  const { runInBatch } = step;
  const work = async (tx: Transaction): Promise<void> => {
    const committed: CommittedStep = { ...step, found: await apply(tx, step) };
    tx.put(k("committed", name), bytes(JSON.stringify(committed)));
  };
  return store.transact(work, { runInBatch, attemptsMax });
}

/** The recorded steps, in commit order, which their revisions show. */
export async function committedStepsOf(store: Store): Promise<CommittedStep[]> {
  const bounds = { ...below("committed"), limit: committedStepsMax };
  const entries = await store.snapshot((view) => view.readHead(bounds));
  const inOrder = entries.toSorted((left, right) => (left.revision ?? 0) - (right.revision ?? 0));
  return inOrder.map(({ value }) => JSON.parse(text(value) ?? "") as CommittedStep);
}

export async function queueOf(store: Store): Promise<number[]> {
  const bounds = { ...below("queue"), limit: positionMax * 2 };
  return store.snapshot(async (view) => (await view.readHead(bounds)).map(numberOf));
}

/** Runs the same steps one after the other on a set. Returns the reads and the remaining entries
 *  that are expected. */
export function runSerially(steps: readonly QueueStep[]) {
  const present = new Set<number>();
  const found = steps.map((step) => applySerially(present, step));
  return { found, queue: inOrderOf(present) };
}

async function apply(tx: Transaction, step: QueueStep): Promise<number[]> {
  if (step.kind === "put") putPosition(tx, step.position);
  if (step.kind === "delete") tx.delete(k("queue", step.position));
  if (step.kind === "put" || step.kind === "delete") return [];
  const found = await findFrom(tx, below("queue").start, step);
  const last = found.length === step.limit ? found.at(-1) : undefined;
  if (step.kind === "read-twice" && last !== undefined) {
    found.push(...(await findFrom(tx, successor(last.key), step)));
  }
  const positions = found.map(numberOf);
  for (const [index, position] of positions.entries()) {
    if (index === step.keep) continue;
    tx.delete(k("queue", position));
    if (staysInRange(step, position)) putPosition(tx, position + step.move);
  }
  return positions;
}

async function findFrom(tx: Transaction, start: Key, step: QueueStep): Promise<Entry[]> {
  return [...(await tx.readHead({ start, end: k("queue", step.end), limit: step.limit }))];
}

function applySerially(present: Set<number>, step: QueueStep): number[] {
  if (step.kind === "put") present.add(step.position);
  if (step.kind === "delete") present.delete(step.position);
  if (step.kind === "put" || step.kind === "delete") return [];
  const countMax = step.kind === "read-twice" ? 2 * step.limit : step.limit;
  const positions = inOrderOf(present).filter((position) => position < step.end);
  const found = positions.slice(0, countMax);
  for (const [index, position] of found.entries()) {
    if (index === step.keep) continue;
    present.delete(position);
    if (staysInRange(step, position)) present.add(position + step.move);
  }
  return found;
}

function staysInRange({ move }: QueueStep, position: number): boolean {
  return move !== 0 && position + move >= 0 && position + move <= positionMax;
}

function putPosition(tx: Transaction, position: number): void {
  tx.put(k("queue", position), bytes(`${position}`));
}

function numberOf({ value }: Entry): number {
  return Number(text(value));
}

function inOrderOf(present: ReadonlySet<number>): number[] {
  return [...present].toSorted((left, right) => left - right);
}

/** Checks that `count` steps were committed, and that each read what it would have read if they had
 *  run one after the other in commit order. */
export async function expectSerialOrder(store: Store, count: number): Promise<void> {
  const committed = await committedStepsOf(store);
  expect(committed).toHaveLength(count);
  const serial = runSerially(committed);
  expect(committed.map(({ found }) => found)).toEqual(serial.found);
  expect(await queueOf(store)).toEqual(serial.queue);
}
