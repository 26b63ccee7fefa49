import type { Clock } from "../base/world.ts";

/** How long everyone waits for one whose turn it is, and who does not come back. */
const turnMillisecondsMax = 25;
/** A resource that nobody lost lately is left alone. */
const contestMillisecondsMax = 1000;
const contestsMax = 10_000;
/** Whoever comes on top tries at once, as anyone could: nobody waits longer than some seconds. */
export const waitingMax = 256;

/** A connection, or whatever else tells one client from another. */
export type ClientIdentity = object;

/**
 * Lets clients that change one resource in a loop, each on the condition that nobody else has, take
 * turns. Left to themselves all but one of them fail each time; the one who has just won is ahead
 * of those who have to read first, and wins again. Here whoever has lost and reads the resource
 * anew has it to himself until he has written, or until his time is over.
 *
 * This only makes some wait a little: what is decided does not depend on it.
 */
export class ContentionQueues {
  readonly #contests = new Map<string, ContentionQueue>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#contests.size === 0;
  }

  /** Before a write on a condition. */
  write(name: string, contender: ClientIdentity): Promise<void> | undefined {
    return this.#contests.get(name)?.enter(contender);
  }

  /** Before a read: only those who have lost mean to try again. */
  read(name: string, contender: ClientIdentity): Promise<void> | undefined {
    const contest = this.#contests.get(name);
    return contest?.forgets(contender) === true ? contest.enter(contender) : undefined;
  }

  /** After a write on a condition. */
  leave(name: string, contender: ClientIdentity, hasLost: boolean): void {
    let contest = this.#contests.get(name);
    if (contest === undefined && hasLost && this.#contests.size < contestsMax) {
      contest = new ContentionQueue(this.#clock, () => this.#contests.delete(name));
      this.#contests.set(name, contest);
    }
    contest?.leave(contender, hasLost);
  }
}

class ContentionQueue {
  readonly #clock: Clock;
  readonly #end: () => void;
  /** Weak, because a contest may last for long, and connections come and go. */
  readonly #losers = new WeakSet<ClientIdentity>();
  readonly #waiting: Waiting[] = [];
  #current: ClientIdentity | undefined;
  #cancelTurn = (): void => undefined;
  #cancelEnd = (): void => undefined;

  constructor(clock: Clock, end: () => void) {
    this.#clock = clock;
    this.#end = end;
  }

  /** Whether it had lost. Each loss is good for one turn: who only goes on reading, as another user
   *  of the same connection may, holds up nobody. */
  forgets(contender: ClientIdentity): boolean {
    return this.#losers.delete(contender);
  }

  /** Undefined if the contender may go on at once. */
  enter(contender: ClientIdentity): Promise<void> | undefined {
    if (this.#current === contender) return undefined;
    if (this.#current === undefined) {
      this.#begin(contender);
      return undefined;
    }
    if (this.#waiting.length >= waitingMax) return undefined;
    return new Promise((resolve) => this.#waiting.push({ contender, resolve }));
  }

  leave(contender: ClientIdentity, hasLost: boolean): void {
    if (hasLost) this.#losers.add(contender);
    else this.#losers.delete(contender);
    if (this.#current === contender) this.#next();
    this.#cancelEnd();
    this.#cancelEnd = this.#clock.after(contestMillisecondsMax, () => this.#stop());
  }

  #begin(contender: ClientIdentity): void {
    this.#current = contender;
    this.#cancelTurn = this.#clock.after(turnMillisecondsMax, () => this.#next());
  }

  #next(): void {
    this.#cancelTurn();
    this.#current = undefined;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#begin(next.contender);
    next.resolve();
  }

  /** Whoever still waits goes on at once. */
  #stop(): void {
    this.#cancelTurn();
    this.#end();
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }
}

interface Waiting {
  readonly contender: ClientIdentity;
  readonly resolve: () => void;
}
