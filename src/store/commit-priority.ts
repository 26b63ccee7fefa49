import { mustYield } from "./commit-batch.ts";
import type { Engine } from "./engine.ts";

/** Conflicts with other processes after which a transaction claims commit priority for its
 *  process. */
const conflictsBeforePriority = 4;
/** Polls of the stored priority before a process commits all the same: a few milliseconds. A
 *  process that has the priority for longer has stopped running. */
const yieldPollsMax = 1000;

/** Prevents starvation between processes. The process that just committed usually gets the write
 *  lock again, and a transaction of another process on the same key would conflict every time.
 *  After 4 conflicts with other processes a process stores its id as priority owner. The others
 *  then delay their next commit until the id is removed, for at most 1,000 polls. */
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
