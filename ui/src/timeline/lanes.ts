import type { HoldSpan, RecordedEvent, Recording } from "../admin/recording.ts";

/** A period in milliseconds. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A request of a client. */
export interface Mark {
  readonly at: number;
  readonly event: RecordedEvent;
}

/** What a client held; bars of one lane that overlap are in different rows. */
export interface Bar extends Period {
  readonly kind: HoldSpan["kind"];
  readonly what: string;
  readonly isOpen: boolean;
  readonly row: number;
}

/** Everything that one client did. */
export interface Lane {
  readonly client: string;
  readonly marks: readonly Mark[];
  readonly bars: readonly Bar[];
  readonly rows: number;
}

/** From a rejected request to the write that made its ETag stale. */
interface Arrow {
  readonly from: Point;
  readonly to: Point;
}

interface Point {
  readonly lane: number;
  readonly at: number;
}

const unknownClient = "client not recorded";
/** Lanes of a picture; the clients with the most requests come first. */
const lanesMax = 20;

/** A client as its lane names it: its principal or address, and its program. */
function clientOf({ caller }: Pick<RecordedEvent, "caller">): string {
  if (caller === undefined) return unknownClient;
  const program = caller.agent?.split(/[ /]/, 1)[0] ?? "";
  const who = caller.name ?? caller.address;
  return program === "" ? who : `${who} ${program}`;
}

/** The lanes of all clients in a period. */
export function lanesOf(recording: Recording, period: Period): readonly Lane[] {
  const marks = new Map<string, Mark[]>();
  for (const event of recording.events) {
    const at = Date.parse(event.at);
    if (at < period.from || at > period.to) continue;
    add(marks, clientOf(event), { at, event });
  }
  const bars = new Map<string, Omit<Bar, "row">[]>();
  for (const { client, bar } of barsOf(recording)) {
    if (bar.from <= period.to && bar.to >= period.from) add(bars, client, bar);
  }
  const clients = [...new Set([...bars.keys(), ...marks.keys()])];
  const weight = (client: string): number =>
    (marks.get(client)?.length ?? 0) + (bars.get(client)?.length ?? 0);
  return clients
    .toSorted((one, other) => weight(other) - weight(one) || (one < other ? -1 : 1))
    .slice(0, lanesMax)
    .map((client) => {
      const arranged = arrangedBars(bars.get(client) ?? []);
      const rows = Math.max(0, ...arranged.map(({ row }) => row + 1));
      return { client, marks: marks.get(client) ?? [], bars: arranged, rows };
    });
}

function add<T>(groups: Map<string, T[]>, key: string, item: T): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [item]);
  else group.push(item);
}

interface ClientBar {
  readonly client: string;
  readonly bar: Omit<Bar, "row">;
}

function barsOf(recording: Recording): readonly ClientBar[] {
  const end = Date.parse(recording.to);
  const leases = leaseBars(recording.events, end);
  const known = new Set(leases.map(({ id }) => id));
  const sampled = recording.spans
    .filter(({ kind, what }) => kind !== "lease" || ![...known].some((id) => what.includes(id)))
    .map(({ kind, what, client = unknownClient, from, to }) => ({
      client,
      bar: {
        kind,
        what,
        from: Date.parse(from),
        to: to === undefined ? end : Date.parse(to),
        isOpen: to === undefined,
      },
    }));
  return [...leases, ...sampled];
}

/** Leases from the requests about them, whose times are exact: from the acquisition to the release,
 *  the break, or the end of the duration. */
function leaseBars(
  events: readonly RecordedEvent[],
  now: number,
): readonly (ClientBar & { readonly id: string })[] {
  interface Held {
    readonly from: number;
    until: number;
    readonly client: string;
    readonly seconds: number;
    readonly object: string;
  }
  const held = new Map<string, Held>();
  const bars: (ClientBar & { id: string })[] = [];
  const close = (id: string, at: number): void => {
    const lease = held.get(id);
    if (lease === undefined) return;
    held.delete(id);
    const to = Math.min(at, lease.until);
    const what = `lease ${id}, ${lease.seconds < 0 ? "infinite" : `${lease.seconds} s`}`;
    const bar = { kind: "lease", what, from: lease.from, to, isOpen: to >= now } as const;
    bars.push({ id, client: lease.client, bar });
  };
  for (const event of events) {
    const { id, action, durationSeconds = -1, secondsLeft = 0 } = event;
    const at = Date.parse(event.at);
    if (event.what !== "lease") continue;
    const { service, account, container, path } = event;
    const object = JSON.stringify([service, account, container, path]);
    if (action === "break") {
      // A break names no lease: it ends that of its object, after the break period.
      for (const one of held.values()) {
        if (one.object === object) one.until = Math.min(one.until, at + secondsLeft * 1000);
      }
    }
    if (id === undefined) continue;
    const lease = held.get(id);
    if (action === "acquire") {
      close(id, at);
      const until = durationSeconds < 0 ? Infinity : at + durationSeconds * 1000;
      held.set(id, { from: at, until, client: clientOf(event), seconds: durationSeconds, object });
    } else if (action === "renew" && lease !== undefined) {
      lease.until = lease.seconds < 0 ? Infinity : at + lease.seconds * 1000;
    } else if (action === "release" || action === "change") close(id, at);
  }
  for (const id of held.keys()) close(id, now);
  return bars;
}

/** Puts each bar into the first row in which it overlaps no other. */
function arrangedBars(bars: readonly Omit<Bar, "row">[]): readonly Bar[] {
  const ends: number[] = [];
  return bars
    .toSorted((one, other) => one.from - other.from)
    .map((bar) => {
      const free = ends.findIndex((end) => end <= bar.from);
      const row = free < 0 ? ends.length : free;
      ends[row] = bar.to;
      return { ...bar, row };
    });
}

/** The arrows between the marks of lanes. */
export function arrowsOf(lanes: readonly Lane[]): readonly Arrow[] {
  const writes = new Map<string, Point>();
  for (const [lane, { marks }] of lanes.entries()) {
    for (const { at, event } of marks) {
      const isWrite = event.what === "write" || event.what === "delete";
      if (isWrite && event.etag !== undefined) writes.set(placeOf(event, event.etag), { lane, at });
    }
  }
  return lanes.flatMap(({ marks }, lane) =>
    marks.flatMap(({ at, event }): readonly Arrow[] => {
      const actual = event.condition?.actual;
      const to =
        actual === undefined || actual === null ? undefined : writes.get(placeOf(event, actual));
      return to === undefined ? [] : [{ from: { lane, at }, to }];
    }),
  );
}

function placeOf(event: RecordedEvent, etag: string): string {
  const { service, account, container, path, partitionKey, rowKey } = event;
  return JSON.stringify([service, account, container, path, partitionKey, rowKey, etag]);
}

/** An object that a recording is about, with its number of requests. */
interface RecordedObject {
  readonly key: string;
  readonly words: string;
  readonly count: number;
}

function objectKey(of: RecordedEvent | HoldSpan): string {
  const { service, account, container, path = "" } = of;
  const keys = "partitionKey" in of ? [of.partitionKey, of.rowKey] : [];
  return JSON.stringify([service, account, container, path, ...keys]);
}

/** The objects of a recording, those with rejected requests first. */
export function objectsOf({ events, spans }: Recording): readonly RecordedObject[] {
  const found = new Map<string, { words: string; count: number; refused: number }>();
  for (const of of [...events, ...spans]) {
    const key = objectKey(of);
    const known = found.get(key) ?? { words: wordsOf(of), count: 0, refused: 0 };
    known.count += 1;
    known.refused += "rule" in of ? 1 : 0;
    found.set(key, known);
  }
  return [...found]
    .toSorted(([, one], [, other]) => other.refused - one.refused || other.count - one.count)
    .map(([key, { words, count }]) => ({ key, words, count }));
}

function wordsOf(of: RecordedEvent | HoldSpan): string {
  const { account, container, path = "" } = of;
  const keys = "partitionKey" in of && of.partitionKey !== undefined;
  const name = keys ? `${of.partitionKey}, ${of.rowKey ?? ""}` : path;
  return `${account}/${container}${name === "" ? "" : `/${name}`}`;
}

/** The part of a recording that is about one object. */
export function recordingOf(recording: Recording, key: string): Recording {
  const isOf = (of: RecordedEvent | HoldSpan): boolean => objectKey(of) === key;
  return {
    ...recording,
    events: recording.events.filter(isOf),
    spans: recording.spans.filter(isOf),
  };
}
