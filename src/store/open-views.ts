import { ticksMax, ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Awaitable } from "../base/awaitable.ts";
import type { EngineView, ScanBounds, StateView, VersionedEntry } from "./engine.ts";
import type { KeyText } from "../encoding/keys.ts";
import { StoreBusy, type Key } from "./store.ts";

/** The open views of a store: their age limit, and the sharing of one view by the requests of an
 *  event-loop iteration. Both kinds of stores use `OpenViews`; only those on this machine share
 *  views, because a database has its own pool (`postgres/state-pool.ts`). */

/** Thrown by reads of a view that is older than `snapshotAgeMax`. An engine keeps every old version
 *  that an open view may read, so a view without an age limit would make the data file grow. */
export class SnapshotTooOld extends StoreBusy {
  override readonly name = "SnapshotTooOld";
}

/** Limit of the keys that a shared view caches: requests that share one begin with reading the same
 *  records (account, container). Saves 5 % of the CPU time of Get Blob. */
const cachedKeysMax = 32;
/** Larger values are not cached: most are records with inline content, which requests that share a
 *  view seldom have in common. */
const cachedValueBytesMax = 1024;

/** When a view expires, and how many requests share it: the last one that closes it ends it. */
interface ViewLifetime {
  readonly endsAt: Ticks;
  readonly users: number;
}

interface OpenViewsOptions {
  readonly clock: Clock;
  readonly snapshotAgeMax: Ticks;
}

/** Tracks the open views of a store, and closes those beyond the age limit, even if in use. */
export class OpenViews {
  readonly #options: OpenViewsOptions;
  /** In the order of opening, so that a sweep ends at the first that has not expired. */
  readonly #open = new Set<OpenView>();
  readonly #unlimited = new Set<OpenView>();
  #cancelSweep: (() => void) | undefined;

  constructor(options: OpenViewsOptions) {
    this.#options = options;
  }

  /** Tracks a view without an age limit, for an export. It ends with the store, or when closed. */
  trackUnlimited(opened: StateView): OpenView {
    const view = new OpenView(opened, { endsAt: ticksMax, users: 1 }, this);
    this.#unlimited.add(view);
    return view;
  }

  /** Tracks a view that ends when each of its `users` has closed it, or at the age limit. */
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
    for (const view of [...this.#open, ...this.#unlimited]) view.expire(reason);
  }

  closed(view: OpenView): void {
    this.#open.delete(view);
    this.#unlimited.delete(view);
  }

  /** Closes the view if it has exceeded the age limit; its later reads throw `SnapshotTooOld`. */
  #checkAge(view: OpenView): void {
    const { clock, snapshotAgeMax } = this.#options;
    if (clock.monotonic() <= view.endsAt) return;
    const milliseconds = snapshotAgeMax / ticksPerMillisecond;
    view.expire(new SnapshotTooOld(`view was kept for more than ${milliseconds} ms`));
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

class OpenView implements StateView {
  readonly endsAt: Ticks;
  snapshotTime?: Ticks;
  readonly #view: StateView;
  readonly #views: OpenViews;
  isClosed = false;
  /** Entries that the requests on this view have read; `undefined` if only one uses it. */
  readonly #cache: Map<KeyText, VersionedEntry> | undefined;
  #users: number;
  #failure: Error | undefined;

  constructor(view: StateView, { endsAt, users }: ViewLifetime, views: OpenViews) {
    this.#view = view;
    this.endsAt = endsAt;
    this.#users = users;
    this.#cache = users > 1 ? new Map() : undefined;
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
    const cached = this.#cache?.get(text);
    if (cached !== undefined) return cached;
    const found = this.#view.get(key, text);
    if (found !== undefined && !(found instanceof Promise)) this.#addToCache(text, found);
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

  #addToCache(text: KeyText, found: VersionedEntry): void {
    if (this.#cache === undefined || this.#cache.size >= cachedKeysMax) return;
    if (found.value.length <= cachedValueBytesMax) this.#cache.set(text, found);
  }

  #end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#views.closed(this);
    this.#view.close();
  }

  #checkOpen(): void {
    if (this.isClosed) throw this.#failure ?? new Error("view was used after it was closed");
  }
}

/** The requests of one event-loop iteration that wait for a view, which they will share. */
interface Group {
  readonly view: Promise<OpenView>;
  users: number;
}

/** Opens one view for all requests of an event-loop iteration, at its end. It contains every commit
 *  whose response was sent before the requests arrived. Opening a view takes several microseconds;
 *  with batched commits and responses, reads of 1 KiB and small writes became about twice as fast
 *  (docs/adr/008-event-loop-batching.md). */
export class SharedViews {
  readonly #open: () => EngineView;
  readonly #views: OpenViews;
  readonly #clock: Clock;
  #group: Group | undefined;

  constructor(open: () => EngineView, views: OpenViews, clock: Clock) {
    this.#open = open;
    this.#clock = clock;
    this.#views = views;
  }

  open(): Promise<StateView> {
    this.#group ??= this.#gather();
    this.#group.users += 1;
    return this.#group.view;
  }

  /** Resolves when no view is being opened, so that the engine can be closed. */
  async idle(): Promise<void> {
    await this.#group?.view.catch(() => undefined);
  }

  #gather(): Group {
    const view = new Promise<OpenView>((resolve, reject) => {
      this.#clock.nextIteration(() => {
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
