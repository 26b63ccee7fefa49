import { randomFrom, type Random } from "../verify/random.ts";

interface Event {
  readonly time: number;
  readonly order: number;
  readonly process: EventOwner | undefined;
  run: (() => void) | undefined;
}

/** A process whose events are run only while it lives and is not paused. */
export interface EventOwner {
  readonly isAlive: boolean;
  /** Microseconds; events that are due before are run then. */
  readonly pausedUntil: number;
}

/** Events of a run; a longer one does not end. */
const eventsMax = 20_000_000;
/** Events of one iteration of Node's event loop. */
const eventsPerIteration = 64;

/**
 * The event loop of a simulation. Time advances only from one event to the next, and what happens
 * at a time is run in the order in which it was scheduled. After each event all promises and
 * `nextTick` callbacks that became ready are run before the next one, as Node does. Nothing else
 * runs: code that waits for anything outside would make runs differ, and the comparison of two
 * runs shows it (`simulate.test.ts`).
 */
export class Scheduler {
  /** Microseconds since the start. */
  now = 0;
  readonly random: Random;
  readonly #heap: Event[] = [];
  #orders = 0;
  #events = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  /** Number of events that were run. */
  get events(): number {
    return this.#events;
  }

  /** Calls `run` after this time; the returned function cancels the call. */
  schedule(microseconds: number, run: () => void, process?: EventOwner): () => void {
    const time = this.now + Math.max(0, Math.round(microseconds));
    this.#orders += 1;
    const event: Event = { time, order: this.#orders, process, run };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  sleep(microseconds: number): Promise<void> {
    return new Promise((resolve) => this.schedule(microseconds, resolve));
  }

  /** A time between the two, in microseconds. */
  between(low: number, high: number): number {
    return low + this.random.below(high - low + 1);
  }

  /** Runs events until `isOver`. Rejects if no event is left. */
  run(isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let hasEnded = false;
      const end = (settle: () => void): void => {
        hasEnded = true;
        settle();
      };
      // All promises and ticks that the event made ready run before the next real immediate.
      const turn = (): void => {
        if (hasEnded) return;
        try {
          if (isOver()) end(resolve);
          else this.#runNext();
        } catch (error) {
          end(() => reject(error));
        }
      };
      // An iteration of the real loop has a system call, so that it runs many events.
      const iterate = (): void => {
        for (let count = 0; count < eventsPerIteration; count += 1) setImmediate(turn);
        if (!hasEnded) setImmediate(iterate);
      };
      iterate();
    });
  }

  #runNext(): void {
    for (;;) {
      const event = this.#pop();
      if (event === undefined) throw new Error("nothing is left to happen");
      if (this.#events >= eventsMax) throw new Error(`it does not end within ${eventsMax} events`);
      const { process, run } = event;
      if (run === undefined || process?.isAlive === false) continue;
      if (process !== undefined && process.pausedUntil > event.time) {
        // Its order among the events of the process is kept.
        this.#push({ ...event, time: process.pausedUntil });
        continue;
      }
      this.now = Math.max(this.now, event.time);
      event.run = undefined;
      this.#events += 1;
      run();
      return;
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (isBefore(last, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order);
}
