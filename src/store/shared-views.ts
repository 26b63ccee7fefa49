import type { EngineView, StateView } from "./engine.ts";
import type { OpenView, OpenViews } from "./open-views.ts";

/** Those who are about to use one view. */
interface Group {
  readonly view: Promise<OpenView>;
  readonly resolve: (view: OpenView) => void;
  readonly reject: (reason: Error) => void;
  users: number;
}

/**
 * Opens one view for all who ask for one in a turn of the event loop, at its end: whatever was
 * acknowledged before one of them asked is in it, and opening costs as much as several reads.
 * Writers go on first, so that readers can tell what is about to change.
 */
export class SharedViews {
  readonly #open: () => EngineView;
  readonly #views: OpenViews;
  #writers: Group | undefined;
  #readers: Group | undefined;

  constructor(open: () => EngineView, views: OpenViews) {
    this.#open = open;
    this.#views = views;
  }

  openToWrite(): Promise<StateView> {
    this.#awaitEndOfTurn();
    this.#writers ??= newGroup();
    this.#writers.users += 1;
    return this.#writers.view;
  }

  openToRead(): Promise<StateView> {
    this.#awaitEndOfTurn();
    this.#readers ??= newGroup();
    this.#readers.users += 1;
    return this.#readers.view;
  }

  /** Resolves when those who have asked have got theirs, or learned why not. */
  async idle(): Promise<void> {
    await this.#writers?.view.catch(() => undefined);
    await this.#readers?.view.catch(() => undefined);
  }

  #awaitEndOfTurn(): void {
    if (this.#writers === undefined && this.#readers === undefined) {
      setImmediate(() => this.#endTurn());
    }
  }

  #endTurn(): void {
    const groups = [this.#writers, this.#readers].filter((group) => group !== undefined);
    this.#writers = undefined;
    this.#readers = undefined;
    try {
      const users = groups.reduce((sum, group) => sum + group.users, 0);
      const view = this.#views.track(this.#open(), users);
      for (const { resolve } of groups) resolve(view);
    } catch (error) {
      for (const { reject } of groups) reject(error as Error);
    }
  }
}

function newGroup(): Group {
  let resolve!: (view: OpenView) => void;
  let reject!: (reason: Error) => void;
  const view = new Promise<OpenView>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { view, resolve, reject, users: 0 };
}
