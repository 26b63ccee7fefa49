import type { EngineView, StateView } from "./engine.ts";
import type { OpenView, OpenViews } from "./open-views.ts";

/** A view that several are about to use, and how many. */
interface Coming {
  readonly view: Promise<OpenView>;
  users: number;
}

/**
 * Opens one view for all who ask for one in a turn of the event loop, at its end: whatever was
 * acknowledged before one of them asked is in it, and opening costs as much as several reads.
 */
export class SharedViews {
  readonly #open: () => EngineView;
  readonly #views: OpenViews;
  #coming: Coming | undefined;

  constructor(open: () => EngineView, views: OpenViews) {
    this.#open = open;
    this.#views = views;
  }

  open(): Promise<StateView> {
    this.#coming ??= this.#come();
    this.#coming.users += 1;
    return this.#coming.view;
  }

  /** Resolves when those who have asked have got theirs, or learned why not. */
  async idle(): Promise<void> {
    await this.#coming?.view.catch(() => undefined);
  }

  #come(): Coming {
    const view = new Promise<OpenView>((resolve, reject) => {
      setImmediate(() => {
        this.#coming = undefined;
        try {
          resolve(this.#views.track(this.#open(), coming.users));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
    const coming: Coming = { view, users: 0 };
    return coming;
  }
}
