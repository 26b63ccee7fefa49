import type { Engine, EngineReader } from "./engine.ts";

/** Beaten this often by other processes, a transaction asks them to wait. */
const conflictsBeforePriority = 4;
/** Some milliseconds; one who holds the turn for longer has stopped running. */
const turnPollsMax = 1000;

/**
 * Between processes there is no order of arrival, and whoever flushes tends to be first again: at a
 * hot key the other would lose every time. So a process whose transactions keep losing writes its
 * name into the store; the others then hold their next commit back until the name is gone.
 */
export class CommitPriority {
  readonly #engine: Engine;
  readonly #owner: number;
  #ignored = 0;

  constructor(engine: Engine, owner: number) {
    this.#engine = engine;
    this.#owner = owner;
  }

  mustYield({ priorityOwner: turn }: EngineReader): boolean {
    return turn !== 0 && turn !== this.#owner && turn !== this.#ignored;
  }

  /** Whose turn it is after a commit that conflicting these. */
  next(conflicting: readonly { readonly externalConflicts: number }[]): number {
    this.#ignored = 0;
    return conflicting.some(
      ({ externalConflicts }) => externalConflicts + 1 >= conflictsBeforePriority,
    )
      ? this.#owner
      : 0;
  }

  async yieldToOwner(): Promise<void> {
    for (let polls = 0; polls < turnPollsMax; polls += 1) {
      const view = this.#engine.open();
      view.close();
      if (!this.mustYield(view)) return;
      if (polls === turnPollsMax - 1) this.#ignored = view.priorityOwner;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
