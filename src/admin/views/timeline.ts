import { formatIso } from "../../base/dates.ts";
import { type Ticks, ticksPerSecond } from "../../base/ticks.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, type AdminResponse, refuse } from "../admin-response.ts";
import { isSameObject, type FeedEvent, type WatchedObject, type Span } from "../feed/feed-event.ts";
import { etagOf } from "../feed/render-feed-event.ts";
import { type CheckedRequest, countOf } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import { objectChecks, objectTargetOf } from "./object-target.ts";
import { renderState, storedStates } from "./states.ts";
import { readRecords } from "./pages.ts";
import type { Feed } from "../feed/feed.ts";
import type { Hold } from "../feed/holds.ts";
import { findQueryError, optional, wholeNumberText, type Check } from "../inputs.ts";
import type { WaitFact } from "./waits.ts";
import type { TimelineEntry } from "../api-types.ts";

/** What has happened to an object since its creation (`/admin/v1/timeline`), and what has happened
 *  on the server in the last seconds (`/admin/v1/recording`), from what the request feed has in
 *  memory. */

/** Most entries of a timeline; the oldest are omitted. */
const entriesMax = 1000;

/** The route that returns what has happened to one object: its stored states (versions and
 *  snapshots), and the requests on it that the request feed still has in memory. */
export function timelineRoute({ httpServices }: ViewContext): Route {
  const query = objectChecks(httpServices);
  return declareRoute("GET /admin/v1/timeline", "principal", timeline, { query });
}

async function timeline(request: CheckedRequest): Promise<AdminResponse> {
  const { context } = request;
  const place = objectTargetOf(context.httpServices, request);
  if ("refusal" in place) return place.refusal;
  const { httpServices, feed } = context;
  const { service, account, address, httpService } = place;
  const resource = httpService.service.resources[address.resource];
  const { now, states } = await readRecords(context, async (records) => {
    const located = await resource?.load(records, { account, address });
    const stored = located && (await storedStates(records, { service, address, located }));
    return { now: records.now, states: stored ?? [] };
  });
  const object = { service, account, place: httpService.service.signedName(address) };
  const current = states.find(({ what }) => what === "current")?.etag;
  const entries = [
    ...states.map((state) => ({ at: state.at, shown: renderState(context, service, state) })),
    ...[...feed.events.latest(), ...feed.reads.latest()]
      .filter((seen) => isSameObject(seen, object))
      .map((seen) => ({
        at: seen.at,
        shown: { what: whatOf(seen), ...feed.render(seen) },
      })),
  ].toSorted((left, right) => compare(right.at, left.at));
  return json({
    now: formatIso(now),
    watchedSince: formatIso(feed.recordedSince),
    etag: current === undefined ? null : etagOf(httpServices, service, current),
    entries: entries.slice(0, entriesMax).map(({ shown }) => shown),
  });
}

/** The word that timelines show for a request: `write`, `delete`, or the kind of its event. */
function whatOf({ kind, method }: FeedEvent): string {
  if (kind !== "change") return kind;
  return method === "DELETE" ? "delete" : "write";
}

function compare(left: Ticks, right: Ticks): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A recorded request, a stored state, or the end of a lease. */
export interface RecordedEvent extends TimelineEntry {
  readonly service: string;
  readonly account: string;
  readonly container: string;
  readonly action?: string;
  readonly id?: string;
  /** The duration of an acquired lease; -1 if it has no end. */
  readonly durationSeconds?: number;
  /** Seconds until a broken lease ends. */
  readonly secondsLeft?: number;
}

const secondsDefault = 60;
const secondsMax = 3600;
const eventsMax = 5000;
const spansMax = 2000;

/** The requests, leases, handles and waits of the last seconds, of all objects or of one, which the
 *  explorer saves to a file and opens again; without contents and keys. */
export function recordingRoute({ httpServices }: ViewContext): Route {
  const named = Object.entries(objectChecks(httpServices));
  const query = {
    seconds: optional(wholeNumberText({ min: 1, max: secondsMax })),
    // A request without parameters of an object gets the recording of all objects.
    ...Object.fromEntries(named.map(([name, check]) => [name, optional(check)])),
  };
  return declareRoute("GET /admin/v1/recording", "principal", record, { query });
}

/** What a recording is limited to: an object, or a message of the queue `object`, by its id.
 *  Without an object it is about the whole server. */
interface Wanted {
  readonly object?: WatchedObject;
  readonly message?: string | undefined;
}

/** A check that accepts all values: the route itself has checked `seconds` already. */
const anything: Check = () => undefined;

function wantedOf(request: CheckedRequest): Wanted | { readonly refusal: AdminResponse } {
  const { query } = request;
  const { httpServices } = request.context;
  if (!query.has("service")) return {};
  const wrong = findQueryError(query, { ...objectChecks(httpServices), seconds: anything });
  if (wrong !== undefined) return { refusal: refuse(400, "InvalidInput", wrong) };
  // The feed records requests about messages under the queue.
  const isQueue = query.get("service") === "queue";
  const named = new URLSearchParams(query);
  if (isQueue) named.delete("path");
  const target = objectTargetOf(httpServices, { ...request, query: named });
  if ("refusal" in target) return target;
  const { service, account, address, httpService } = target;
  const object = { service, account, place: httpService.service.signedName(address) };
  return { object, message: isQueue ? (query.get("path") ?? undefined) : undefined };
}

function record(request: CheckedRequest): AdminResponse {
  const wanted = wantedOf(request);
  return "refusal" in wanted ? wanted.refusal : json(recordingOf(request, wanted));
}

/** What happened in the last seconds: requests without contents and keys, and what clients held.
 *  The explorer shows it as a chart and saves it to a file. */
export type Recording = ReturnType<typeof recordingOf>;

/** `recordedSince` is the time of the first request that the feed has recorded: earlier ones are
 *  unknown. Events are sorted, the oldest first. */
function recordingOf(request: CheckedRequest, wanted: Wanted) {
  const { context, query, sees } = request;
  const { feed } = context;
  const now = context.clock.wall();
  const from = now - BigInt(countOf(query, "seconds", secondsDefault)) * ticksPerSecond;
  const isSeen = ({ service, account, container }: Place): boolean =>
    sees({ service, account, name: container });
  const events = eventsSince(feed, from).filter((event) => {
    const { service, account, place } = event;
    const isOfObject = wanted.object === undefined || isSameObject(event, wanted.object);
    return isOfObject && sees({ service, account, name: place.name });
  });
  const clients = leaseClients(feed);
  const spans: readonly HoldSpan[] = feed.holds
    .since(from)
    .filter(({ fact }) => isSeen(fact) && isOf(fact, wanted))
    .map((span) => renderHold(span, clients));
  const waits: readonly WaitSpan[] = feed.waits
    .since(from)
    .filter(({ fact }) => isSeen(fact) && isOf(fact, wanted))
    .map(renderWait);
  const shown: readonly RecordedEvent[] = events
    .slice(-eventsMax)
    .map((event) => renderEvent(feed, event));
  return {
    format: "etagere-recording" as const,
    version: 1 as const,
    server: context.facts().version,
    from: formatIso(from),
    to: formatIso(now),
    recordedSince: formatIso(feed.recordedSince),
    events: shown,
    spans: limited(spans),
    waits: limited(waits),
  };
}

function limited<T>(spans: readonly T[]): readonly T[] {
  return spans.slice(0, spansMax);
}

type Place = Pick<Hold, "service" | "account" | "container" | "path">;

/** The requests in the feed since a time, oldest first, also those of the same millisecond: the
 *  wall clock is no more precise. */
function eventsSince(feed: Feed, from: Ticks): readonly FeedEvent[] {
  return [...feed.events.latest(), ...feed.reads.latest()]
    .toReversed()
    .filter(({ at }) => at >= from)
    .toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}

function isOf({ service, account, container, path }: Place, { object, message }: Wanted): boolean {
  if (object === undefined) return true;
  const { place } = object;
  const isSame =
    service === object.service && account === object.account && container === place.name;
  if (service === "queue") return isSame && (message === undefined || message === path);
  return isSame && path === (place.path ?? "");
}

/** The client that acquired or renewed each lease, by lease id. */
function leaseClients(feed: Feed): ReadonlyMap<string, string> {
  const clients = new Map<string, string>();
  for (const event of feed.events.latest()) {
    const id = event.lease?.id;
    if (id !== undefined && !clients.has(id)) clients.set(id, clientOf(event));
  }
  return clients;
}

/** The name of a client in a timeline: its address, and its program if it is known. */
function clientOf({ address, agent }: FeedEvent): string {
  const program = agent?.split(/[ /]/, 1)[0] ?? "";
  return program === "" ? address : `${address} ${program}`;
}

function renderEvent(feed: Feed, event: FeedEvent): RecordedEvent {
  return { what: whatOf(event), ...feed.render(event) } as RecordedEvent;
}

/** A lease, lock or message that a client held; `to` is absent while the client still holds it, and
 *  `client` if it is not known. */
export type HoldSpan = ReturnType<typeof renderHold>;

function renderHold({ fact, from, to }: Span<Hold>, clients: ReadonlyMap<string, string>) {
  const { kind, service, account, container, path, what, lease = "" } = fact;
  const client = fact.client ?? clients.get(lease);
  const times = { from: formatIso(from), ...(to !== undefined && { to: formatIso(to) }) };
  return { kind, service, account, container, path, client, what, ...times };
}

export type WaitSpan = ReturnType<typeof renderWait>;

function renderWait({ fact, from, to }: Span<WaitFact>) {
  const { key: _key, since: _since, until: _until, attempts: _attempts, ...facts } = fact;
  return { ...facts, from: formatIso(from), ...(to !== undefined && { to: formatIso(to) }) };
}
