import type { ServerResponse } from "node:http";
import { formatIso } from "../../core/dates.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { Observed } from "../../http/observer.ts";
import type { Administered } from "../administered.ts";
import { refuse } from "../answer.ts";
import { mistakeInQuery, optional } from "../inputs.ts";
import type { AdminRequest } from "../request.ts";
import type { Health } from "../views/health.ts";
import { Passing } from "./passing.ts";
import { Ring } from "./ring.ts";
import { seenIn, type Seen } from "./seen.ts";
import { shownSeen } from "./shown.ts";
import { eventText, feedKindsCheck, parseKinds, Watcher, type FeedKind } from "./watcher.ts";

const watchersMax = 32;
const remembered = 4096;
const waitingMax = 1000;
const flushMilliseconds = 100;
const tickMilliseconds = 1000;
const ticksPerHeartbeat = 15;

/** Tells those who watch what happens. While nobody does, no request is looked at. */
export class Feed {
  readonly ring = new Ring<Seen>(remembered);
  /** Since when requests have been looked at; undefined if they never were. */
  watchedSince: Ticks | undefined;
  readonly #administered: Administered;
  readonly #health: Health;
  readonly #passing: Passing;
  readonly #watchers = new Set<Watcher>();
  #waiting: Seen[] = [];
  #overflow = 0;
  #cancelFlush: (() => void) | undefined;
  #cancelTick = (): void => {};
  #ticks = 0;
  /** Counts the times that watching began: what is left of an earlier one must not go on. */
  #turn = 0;

  constructor(administered: Administered, health: Health) {
    this.#administered = administered;
    this.#health = health;
    this.#passing = new Passing(administered);
  }

  open({ query }: AdminRequest, response: ServerResponse): void {
    const wrong = mistakeInQuery(query, { kinds: optional(feedKindsCheck) });
    const kinds = parseKinds(query.get("kinds"));
    if (kinds === undefined || wrong !== undefined || this.#watchers.size >= watchersMax) {
      const refusal =
        wrong === undefined
          ? refuse(503, "TooManyWatchers", `${watchersMax} watch already`)
          : refuse(400, "InvalidInput", wrong);
      response.writeHead(refusal.status, refusal.headers).end(refusal.body);
      return;
    }
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
    const watcher = new Watcher(response, kinds);
    response.on("close", () => this.#leave(watcher));
    const now = formatIso(this.#administered.clock.wall());
    watcher.send(eventText("hello", { now, kinds: [...kinds] }));
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) this.#begin();
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
    this.#rest();
  }

  #begin(): void {
    const { clock, observer } = this.#administered;
    this.watchedSince = clock.wall();
    this.#passing.restart();
    observer.watch = this.#observe;
    this.#turn += 1;
    void this.#tick(this.#turn);
  }

  #leave(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size === 0) this.#rest();
  }

  #rest(): void {
    this.#administered.observer.watch = undefined;
    this.#cancelTick();
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#waiting = [];
  }

  readonly #observe = (observed: Observed): void => {
    this.#apart(() => seenIn(observed, this.#take));
  };

  /** Whoever is watched must not suffer from it. */
  #apart(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#administered.log.error({ err: error }, "a request could not be told of");
    }
  }

  readonly #take = (seen: Seen): void => {
    this.ring.push(seen);
    if (this.#waiting.length >= waitingMax) this.#overflow += 1;
    else this.#waiting.push(seen);
    const flush = (): void => this.#apart(() => this.#flush());
    this.#cancelFlush ??= this.#administered.clock.after(flushMilliseconds, flush);
  };

  #flush(): void {
    this.#cancelFlush = undefined;
    const waiting = this.#waiting;
    const missed = this.#overflow;
    this.#waiting = [];
    this.#overflow = 0;
    const { clock, doors } = this.#administered;
    const now = clock.monotonic();
    // Made for the first who gets to read them; most of a flood is never put into words.
    const texts: string[] = [];
    for (const watcher of this.#watchers) {
      let text = "";
      for (const [index, seen] of waiting.entries()) {
        if (!watcher.admits(seen.kind, now)) continue;
        texts[index] ??= eventText(seen.kind, shownSeen(doors, seen));
        text += texts[index];
      }
      watcher.miss(missed);
      this.#send(watcher, text);
    }
  }

  async #tick(turn: number): Promise<void> {
    this.#ticks += 1;
    try {
      await this.#lookAround();
    } catch (error) {
      this.#administered.log.warn({ err: error }, "the feed could not look around");
    }
    if (this.#watchers.size === 0 || turn !== this.#turn) return;
    const { clock } = this.#administered;
    this.#cancelTick = clock.after(tickMilliseconds, () => void this.#tick(turn));
  }

  async #lookAround(): Promise<void> {
    if (this.#wants("lease") || this.#wants("message")) {
      for (const { kind, data } of await this.#passing.look()) this.#tell(kind, data);
    }
    if (this.#wants("health")) this.#tell("health", await this.#health.look());
    if (this.#ticks % ticksPerHeartbeat !== 0) return;
    for (const watcher of this.#watchers) this.#send(watcher, ":\n\n");
  }

  #wants(kind: FeedKind): boolean {
    return [...this.#watchers].some(({ kinds }) => kinds.has(kind));
  }

  #tell(kind: FeedKind, data: object): void {
    const text = eventText(kind, data);
    const now = this.#administered.clock.monotonic();
    for (const watcher of this.#watchers) {
      if (watcher.admits(kind, now)) this.#send(watcher, text);
    }
  }

  #send(watcher: Watcher, text: string): void {
    if (watcher.send(text)) return;
    watcher.cut();
    this.#leave(watcher);
  }
}
