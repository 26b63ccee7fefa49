import { ticksPerMillisecond } from "../base/ticks.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Awaitable, ScanBounds, VersionedEntry, StateView } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Key } from "./store.ts";

/** The view is older than `snapshotAgeMax`: keeping it would make the stored file grow. */
export class SnapshotTooOld extends Error {
  override readonly name = "SnapshotTooOld";
}

/** Of one view; those who share one ask for the same first, before what is their own. */
const knownMax = 32;
/** Of one value: bodies that lie in their records are nobody else's. */
const knownBytesMax = 1024;

interface OpenFor {
  readonly endsAt: Ticks;
  readonly users: number;
}

export interface OpenViewsOptions {
  readonly clock: Clock;
  readonly snapshotAgeMax: Ticks;
}

/** Keeps the views that are open and ends those that are kept for too long, read or not. */
export class OpenViews {
  readonly #options: OpenViewsOptions;
  /** In the order of opening, so the oldest comes first. */
  readonly #open = new Set<OpenView>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: OpenViewsOptions) {
    this.#options = options;
  }

  /** Each of its users closes it once. */
  track(opened: StateView, users = 1): OpenView {
    const { clock, snapshotAgeMax } = this.#options;
    const view = new OpenView(opened, { endsAt: clock.monotonic() + snapshotAgeMax, users }, this);
    this.#open.add(view);
    this.#cancelSweep ??= this.#scheduleSweep();
    return view;
  }

  closeAll(reason: Error): void {
    this.#cancelSweep?.();
    this.#cancelSweep = undefined;
    for (const view of this.#open) view.expire(reason);
  }

  closed(view: OpenView): void {
    this.#open.delete(view);
  }

  /** Ends the view if its time is over. */
  #checkAge(view: OpenView): void {
    const { clock, snapshotAgeMax } = this.#options;
    if (clock.monotonic() <= view.endsAt) return;
    const milliseconds = snapshotAgeMax / ticksPerMillisecond;
    view.expire(new SnapshotTooOld(`a view was kept for more than ${milliseconds} ms`));
  }

  #scheduleSweep(): () => void {
    const { clock, snapshotAgeMax } = this.#options;
    const [oldest] = this.#open;
    const left = oldest === undefined ? snapshotAgeMax : oldest.endsAt - clock.monotonic();
    return clock.after(Number(left / ticksPerMillisecond) + 1, () => {
      this.#cancelSweep = undefined;
      for (const view of this.#open) {
        this.#checkAge(view);
        if (!view.isClosed) break;
      }
      if (this.#open.size > 0) this.#cancelSweep = this.#scheduleSweep();
    });
  }
}

export class OpenView implements StateView {
  readonly endsAt: Ticks;
  readonly #view: StateView;
  readonly #views: OpenViews;
  isClosed = false;
  /** What several who share the view have asked for: many begin with the same records. */
  readonly #known: Map<KeyText, VersionedEntry> | undefined;
  #users: number;
  #failure: Error | undefined;

  constructor(view: StateView, { endsAt, users }: OpenFor, views: OpenViews) {
    this.#view = view;
    this.endsAt = endsAt;
    this.#users = users;
    this.#known = users > 1 ? new Map() : undefined;
    this.#views = views;
  }

  get sequence(): number {
    return this.#view.sequence;
  }

  get ticks(): Ticks {
    return this.#view.ticks;
  }

  get clockOffset(): Ticks {
    return this.#view.clockOffset;
  }

  get priorityOwner(): number {
    return this.#view.priorityOwner;
  }

  get(key: Key, text: KeyText): Awaitable<VersionedEntry | undefined> {
    this.#checkOpen();
    const known = this.#known?.get(text);
    if (known !== undefined) return known;
    const found = this.#view.get(key, text);
    if (found !== undefined && !(found instanceof Promise)) this.#keep(text, found);
    return found;
  }

  scan(bounds: ScanBounds, countMax: number): Awaitable<VersionedEntry[]> {
    this.#checkOpen();
    return this.#view.scan(bounds, countMax);
  }

  close(): void {
    this.#users -= 1;
    if (this.#users <= 0) this.#end();
  }

  expire(reason: Error): void {
    this.#failure = reason;
    this.#end();
  }

  #keep(text: KeyText, found: VersionedEntry): void {
    if (this.#known === undefined || this.#known.size >= knownMax) return;
    if (found.value.length <= knownBytesMax) this.#known.set(text, found);
  }

  #end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#views.closed(this);
    this.#view.close();
  }

  #checkOpen(): void {
    if (this.isClosed) throw this.#failure ?? new Error("a view was used after its end");
  }
}
