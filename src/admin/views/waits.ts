import type { Holder, Wait, WaitsView } from "../api-types.ts";
import { formatIso, parseIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { locks } from "../../file/records.ts";
import type { RecordView } from "../../operation/view.ts";
import type { Wait as PendingWait } from "../../operation/work.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, secondsUntil, type AdminResponse } from "../admin-response.ts";
import { objectKey, type Spanned, type FeedEvent } from "../feed/feed-event.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute } from "../routes.ts";
import { Names } from "./names.ts";
import { fileTargetOf, lettersOf } from "./open-files.ts";
import { overlaps, type ByteSpan } from "../../file/locks/byte-ranges.ts";
import type { LockState } from "../../file/locks/lock-state.ts";
import { readRecords } from "./pages.ts";

/** Finds clients that wait for other clients, and those that wait for each other (deadlocks). */

/** Azure leases have no queue: a client that was rejected because of a lease counts as waiting for
 *  this long, because it probably tries again. */
const leaseWaitTicks = 60n * ticksPerSecond;
const waitsMax = 500;

/** Clients that wait: for SMB locks, for breaks of caching grants, and for leases. */
export const waitRoute = declareRoute("GET /admin/v1/waits", "principal", list);

async function list({ context, sees }: CheckedRequest): Promise<AdminResponse> {
  const now = context.clock.wall();
  const all = await currentWaits(context, [...context.feed.events.latest()], now);
  const waits = all.filter((wait) => sees({ ...wait, name: wait.container }));
  return json({ now: formatIso(now), waits, cycles: cyclesOf(waits) } satisfies WaitsView);
}

/** Clients that wait now. `events`: the recorded requests, the newest first. */
export async function currentWaits(
  { runtime, smb, httpServices, otherWorkers }: ViewContext,
  events: readonly FeedEvent[],
  now: Ticks,
): Promise<readonly Wait[]> {
  const own = httpServices.file?.runtime.waits?.list() ?? [];
  const others = (await otherWorkers?.waits()) ?? [];
  const pending = [...(smb?.waits() ?? []), ...own, ...others].slice(0, waitsMax);
  const locked = await readRecords({ runtime }, async (records) => {
    const names = new Names(records);
    const waits: (Wait | undefined)[] = [];
    for (const wait of pending) waits.push(await lockWaitOf({ records, names, now }, wait));
    return waits;
  });
  const found = [...locked, ...leaseWaits(events, now)].filter((wait) => wait !== undefined);
  return found.slice(0, waitsMax);
}

/** Groups of clients that wait for each other. A client that retries a lease does not wait. */
function cyclesOf(waits: readonly Wait[]): readonly (readonly string[])[] {
  const edges = waits
    .filter(({ kind }) => kind !== "lease")
    .map(({ waiter, holders }) => ({
      waiter: waiter.client,
      holders: holders.map(({ client }) => client),
    }));
  return findCycles(edges);
}

/** A client that waits for another, as the timelines of objects record it. */
export interface WaitFact extends Spanned, Omit<Wait, "waiter" | "holders" | "since" | "seconds"> {
  readonly waiter: string;
  readonly operation: string;
  readonly holder: string;
  readonly what: string;
  readonly isDeadlock: boolean;
}

export function waitFacts(waits: readonly Wait[]): readonly WaitFact[] {
  const stuck = cyclesOf(waits);
  return waits.flatMap(({ waiter, holders, since, seconds: _seconds, ...wait }) =>
    holders.map(({ client: holder, what }): WaitFact => {
      const { client, operation } = waiter;
      const isDeadlock = stuck.some((group) => group.includes(client) && group.includes(holder));
      const { kind, account, container, path } = wait;
      const key = JSON.stringify([kind, account, container, path, client, holder, isDeadlock]);
      const began = parseIso(since);
      return { ...wait, key, waiter: client, operation, holder, what, isDeadlock, since: began };
    }),
  );
}

/** Names the client of a waiting REST request: its address would often be that of a gateway. */
const restClient = "REST";

interface LockWaitContext {
  readonly records: RecordView;
  readonly names: Names;
  readonly now: Ticks;
}

async function lockWaitOf(
  { records, names, now }: LockWaitContext,
  { key, client = restClient, operation, ranges, since }: PendingWait,
): Promise<Wait | undefined> {
  const [share, file] = locks.parts(key) as [bigint, bigint];
  const target = await fileTargetOf(records, names, share, file);
  const state = await records.get(locks, { share, id: file });
  if (target === undefined || state === undefined) return undefined;
  const { account, share: container, path } = target;
  return {
    kind: ranges === undefined ? "break" : "lock",
    service: "file",
    account,
    container,
    path,
    waiter: { client, operation },
    since: formatIso(since),
    seconds: secondsUntil(now, since),
    holders: ranges === undefined ? breakHolders(state) : rangeHolders(state, ranges),
  };
}

/** Clients whose requests were rejected because of a lease in the last minute. `events`: the
 *  recorded requests, the newest first. */
function leaseWaits(events: readonly FeedEvent[], now: Ticks): readonly Wait[] {
  const recent = events.filter(({ at }) => now - at <= leaseWaitTicks);
  const waits = new Map<string, Wait>();
  for (const event of recent) {
    const { refused } = event;
    const isHeld = refused?.lease !== undefined && isLocked(refused.lease, now);
    if (refused?.isAboutLease !== true || !isHeld) continue;
    const key = `${objectKey(event)} ${event.address} ${event.agent ?? ""}`;
    const known = waits.get(key);
    if (known === undefined && waits.size >= waitsMax) continue;
    const holder = known?.holders ?? [leaseHolder(events, refused.lease?.id ?? "")];
    waits.set(key, leaseWait(event, { now, attempts: (known?.attempts ?? 0) + 1, holder }));
  }
  return [...waits.values()];
}

function leaseWait(
  { service, account, place, operation, address, agent, at }: FeedEvent,
  { now, attempts, holder }: { now: Ticks; attempts: number; holder: readonly Holder[] },
): Wait {
  return {
    kind: "lease",
    service,
    account,
    container: place.name ?? "",
    path: place.path ?? "",
    waiter: { client: address, operation, agent },
    since: formatIso(at),
    seconds: secondsUntil(now, at),
    attempts,
    holders: holder,
  };
}

/** The client that acquired a lease; its name is empty if the feed has not recorded it. */
function leaseHolder(events: readonly FeedEvent[], id: string): Holder {
  const acquired = events.find(({ lease }) => lease?.id === id);
  return { client: acquired?.address ?? "", lease: id, what: `lease ${id}` };
}

const holdersMax = 20;

/** The handles whose caching grants are being broken. */
export function breakHolders({ opens, caches }: LockState): readonly Holder[] {
  return caches
    .flatMap(({ key, held, breaking }): readonly Holder[] => {
      if (breaking === undefined) return [];
      const to = lettersOf(breaking.to) || "none";
      const what = `caching ${lettersOf(held)}, asked to keep ${to}`;
      const owners = opens.filter(({ cacheKey }) => cacheKey === key);
      return owners.map(({ id, client }) => ({ client, open: String(id), what }));
    })
    .slice(0, holdersMax);
}

/** The handles with byte-range locks that overlap the wanted ones. */
export function rangeHolders(
  { opens, ranges }: LockState,
  wanted: readonly ByteSpan[],
): readonly Holder[] {
  const clients = new Map(opens.map(({ id, client }) => [id, client]));
  return ranges
    .filter((held) => wanted.some((span) => overlaps(held, span)))
    .map(({ open, offset, length, exclusive }) => ({
      client: clients.get(open) ?? "",
      open: String(open),
      what: `${exclusive ? "exclusive" : "shared"} lock of ${length} bytes at ${offset}`,
    }))
    .slice(0, holdersMax);
}

interface WaitEdge {
  readonly waiter: string;
  readonly holders: readonly string[];
}

/** Groups of clients that wait for each other: none of them can proceed unless a request fails or
 *  times out. Each group is listed once, in the order in which its clients wait. */
export function findCycles(edges: readonly WaitEdge[]): readonly (readonly string[])[] {
  const next = new Map<string, Set<string>>();
  for (const { waiter, holders } of edges) {
    const known = next.get(waiter) ?? new Set();
    for (const holder of holders) if (holder !== waiter) known.add(holder);
    next.set(waiter, known);
  }
  const cycles: string[][] = [];
  const done = new Set<string>();
  for (const start of next.keys()) followFrom(start, { next, done, cycles });
  return cycles;
}

interface Search {
  readonly next: ReadonlyMap<string, ReadonlySet<string>>;
  /** Clients whose waits were followed to their end already, so that each is visited once. */
  readonly done: Set<string>;
  readonly cycles: string[][];
}

/** Follows the edges depth first, without recursion: a chain may be as long as there are waits. */
function followFrom(start: string, { next, done, cycles }: Search): void {
  const path: { client: string; left: Iterator<string> }[] = [];
  const enter = (client: string): void => {
    path.push({ client, left: (next.get(client) ?? new Set<string>()).values() });
  };
  if (!done.has(start)) enter(start);
  for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
    const { value: following, done: isEnd } = top.left.next();
    if (isEnd === true) {
      done.add(top.client);
      path.pop();
      continue;
    }
    const at = path.findIndex(({ client }) => client === following);
    if (at >= 0) cycles.push(path.slice(at).map(({ client }) => client));
    else if (!done.has(following)) enter(following);
  }
}
