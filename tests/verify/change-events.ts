import type { Operation } from "./history.ts";

/** Changes with unique client request ids, and what the change feed and the webhook have of
 *  them. */
export type ChangeInput =
  | {
      readonly action: "put" | "delete" | "metadata";
      readonly request: string;
      readonly condition?: string;
    }
  | { readonly action: "feed" | "webhook" };

export interface ChangeOutput {
  readonly status: number;
  readonly etag?: string;
  readonly events?: readonly SeenEvent[];
}

/** An event as a reader sees it. */
export interface SeenEvent {
  readonly subject: string;
  /** The client request id. */
  readonly request: string;
}

type ChangeOperation = Operation<ChangeInput, ChangeOutput>;

interface Change {
  readonly request: string;
  readonly called: number;
  readonly returned: number;
  /** Undefined without a response. */
  readonly status: number | undefined;
}

/**
 * Checks that each acknowledged change is in the feed exactly once and at the webhook at least
 * once, that neither has a change that was refused, and that their order agrees with real time.
 */
export function checkEvents(operations: readonly Operation[]): readonly string[] {
  const all = operations as readonly ChangeOperation[];
  const changes = new Map(all.flatMap(changeOf).map((change) => [change.request, change]));
  const eventsOf = (action: string): readonly SeenEvent[] =>
    all.findLast(({ input }) => input.action === action)?.output?.events ?? [];
  const [feed, delivered] = [eventsOf("feed"), eventsOf("webhook")];
  return [
    ...missing(changes, feed, "is not in the feed"),
    ...missing(changes, delivered, "was never delivered"),
    ...strangers(changes, feed, "is in the feed"),
    ...strangers(changes, delivered, "was delivered"),
    ...repeated(feed),
    ...disorder(changes, feed),
    ...otherOrder(feed, delivered),
  ];
}

function changeOf({ input, output, called, returned }: ChangeOperation): readonly Change[] {
  if (!("request" in input)) return [];
  return [{ request: input.request, called, returned, status: output?.status }];
}

type Changes = ReadonlyMap<string, Change>;

function missing(changes: Changes, seen: readonly SeenEvent[], what: string): readonly string[] {
  const found = new Set(seen.map(({ request }) => request));
  return [...changes.values()].flatMap(({ request, status = 999 }) =>
    status < 300 && !found.has(request) ? [`${request} was acknowledged, but ${what}`] : [],
  );
}

function strangers(changes: Changes, seen: readonly SeenEvent[], what: string): readonly string[] {
  return seen.flatMap(({ request }) => {
    const change = changes.get(request);
    if (change === undefined) return [`${request} was never sent, but ${what}`];
    return (change.status ?? 0) >= 300 ? [`${request} was refused, but ${what}`] : [];
  });
}

function repeated(feed: readonly SeenEvent[]): readonly string[] {
  const seen = new Set<string>();
  return feed.flatMap(({ request }) => {
    if (seen.has(request)) return [`${request} is in the feed twice`];
    seen.add(request);
    return [];
  });
}

/** A change that was acknowledged before another one began stands before it. */
function disorder(changes: Changes, feed: readonly SeenEvent[]): readonly string[] {
  const problems: string[] = [];
  let earliest: Change | undefined;
  for (const { request } of feed.toReversed()) {
    const change = changes.get(request);
    if (change === undefined) continue;
    if (earliest !== undefined && earliest.returned < change.called) {
      problems.push(`${request} came after ${earliest.request}, but stands before it in the feed`);
    }
    if (earliest === undefined || change.returned < earliest.returned) earliest = change;
  }
  return problems;
}

/** The first deliveries of the events of one blob are in the order of the feed. */
function otherOrder(
  feed: readonly SeenEvent[],
  delivered: readonly SeenEvent[],
): readonly string[] {
  const places = new Map(feed.map(({ request }, place) => [request, place]));
  const seen = new Set<string>();
  const last = new Map<string, number>();
  return delivered.flatMap(({ subject, request }) => {
    const place = places.get(request);
    if (place === undefined || seen.has(request)) return [];
    seen.add(request);
    const isLate = place < (last.get(subject) ?? -1);
    last.set(subject, Math.max(place, last.get(subject) ?? -1));
    return isLate ? [`${request} was delivered after a later change of ${subject}`] : [];
  });
}
