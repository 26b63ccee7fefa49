import { ticksPerMillisecond } from "../core/ticks.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Clock } from "../core/world.ts";
import type { Engine, EngineView } from "./engine.ts";

/** The view is older than `snapshotAgeMax`: keeping it would make the stored file grow. */
export class SnapshotTooOld extends Error {
  override readonly name = "SnapshotTooOld";
}

export interface OpenViewsOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly snapshotAgeMax: Ticks;
}

interface OpenView {
  readonly openedAt: Ticks;
  readonly expire: (reason: Error) => void;
}

/** Opens views of the engine and ends those that are kept for too long, read or not. */
export class OpenViews {
  readonly #options: OpenViewsOptions;
  /** In the order of opening, so the oldest comes first. */
  readonly #open = new Set<OpenView>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: OpenViewsOptions) {
    this.#options = options;
  }

  open(): EngineView {
    const { engine, clock } = this.#options;
    const view = engine.open();
    let failure: Error | undefined;
    const entry: OpenView = {
      openedAt: clock.monotonic(),
      expire: (reason) => {
        failure = reason;
        this.#open.delete(entry);
        view.close();
      },
    };
    const checkOpen = (): void => {
      if (failure === undefined && this.#isTooOld(entry)) entry.expire(this.#tooOld());
      if (failure !== undefined) throw failure;
    };
    this.#open.add(entry);
    this.#cancelSweep ??= this.#scheduleSweep();
    return {
      sequence: view.sequence,
      ticks: view.ticks,
      epoch: view.epoch,
      turn: view.turn,
      get(key, text) {
        checkOpen();
        return view.get(key, text);
      },
      scan(bounds, countMax) {
        checkOpen();
        return view.scan(bounds, countMax);
      },
      close() {
        if (failure === undefined) entry.expire(new Error("a view was used after its end"));
      },
    };
  }

  closeAll(reason: Error): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    for (const entry of this.#open) entry.expire(reason);
  }

  #isTooOld(entry: OpenView): boolean {
    const { clock, snapshotAgeMax } = this.#options;
    return clock.monotonic() - entry.openedAt > snapshotAgeMax;
  }

  #tooOld(): Error {
    const milliseconds = this.#options.snapshotAgeMax / ticksPerMillisecond;
    return new SnapshotTooOld(`a view was kept for more than ${milliseconds} ms`);
  }

  #scheduleSweep(): () => void {
    const { clock, snapshotAgeMax } = this.#options;
    return clock.after(Number(snapshotAgeMax / ticksPerMillisecond) + 1, () => {
      this.#cancelSweep = undefined;
      for (const entry of this.#open) {
        if (!this.#isTooOld(entry)) break;
        entry.expire(this.#tooOld());
      }
      if (this.#open.size > 0) this.#cancelSweep = this.#scheduleSweep();
    });
  }
}
