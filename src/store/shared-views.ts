import type { EngineView, StateView } from "./engine.ts";
import type { OpenView, OpenViews } from "./open-views.ts";

/** Requests that will share one view. */
interface Group {
  readonly view: Promise<OpenView>;
  users: number;
}

/** Opens one view for all requests of an event-loop iteration, at its end. It contains every commit
 *  that was acknowledged before the requests were made. Opening a view takes several microseconds;
 *  with batched commits and responses, reads of 1 KiB and small writes became about twice as fast
 *  (docs/adr/008-event-loop-batching.md). */
export class SharedViews {
  readonly #open: () => EngineView;
  readonly #views: OpenViews;
  #group: Group | undefined;

  constructor(open: () => EngineView, views: OpenViews) {
    this.#open = open;
    this.#views = views;
  }

  open(): Promise<StateView> {
    this.#group ??= this.#gather();
    this.#group.users += 1;
    return this.#group.view;
  }

  /** Resolves when the pending view was opened or failed. */
  async idle(): Promise<void> {
    await this.#group?.view.catch(() => undefined);
  }

  #gather(): Group {
    const view = new Promise<OpenView>((resolve, reject) => {
      setImmediate(() => {
        this.#group = undefined;
        try {
          resolve(this.#views.track(this.#open(), group.users));
        } catch (error) {
          reject(error);
        }
      });
    });
    const group: Group = { view, users: 0 };
    return group;
  }
}
