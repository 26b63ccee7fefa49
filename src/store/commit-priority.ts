import { mustYield } from "./commit-batch.ts";
import type { Engine } from "./engine.ts";

/** Conflicts with other processes after which a transaction claims commit priority for its
 *  process. */
const conflictsBeforePriority = 4;
/** A few milliseconds; a process that holds the priority for longer has stopped running. */
const yieldPollsMax = 1000;

/** Prevents starvation between processes: the one that just committed usually gets the write lock
 *  again, and a transaction of another process on the same key would conflict every time. After 4
 *  conflicts with other processes a process stores its id; the others then delay their next commit
 *  until it is removed, for 1,000 polls at most. */
export class CommitPriority {
  readonly #engine: Engine;
  readonly #owner: number;
  #ignored = 0;

  constructor(engine: Engine, owner: number) {
    this.#engine = engine;
    this.#owner = owner;
  }

  /** Process whose priority is ignored, because it has stopped running; 0 for none. */
  get ignoredOwner(): number {
    return this.#ignored;
  }

  /** A commit has stored a new priority owner. */
  committed(): void {
    this.#ignored = 0;
  }

  async yieldToOwner(): Promise<void> {
    for (let polls = 0; polls < yieldPollsMax; polls += 1) {
      const view = this.#engine.open();
      view.close();
      const process = { owner: this.#owner, ignoredOwner: this.#ignored };
      if (!mustYield(process, view.priorityOwner)) return;
      if (polls === yieldPollsMax - 1) this.#ignored = view.priorityOwner;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Whether the process of a transaction claims commit priority if the transaction conflicts once
 *  more. */
export function isStarving({ externalConflicts }: { readonly externalConflicts: number }): boolean {
  return externalConflicts + 1 >= conflictsBeforePriority;
}
