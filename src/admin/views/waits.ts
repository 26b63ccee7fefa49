import { formatIso } from "../../base/dates.ts";
import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { locks } from "../../file/records.ts";
import type { CallWait } from "../../operation/call-waits.ts";
import { Records } from "../../operation/records.ts";
import type { RecordView } from "../../operation/view.ts";
import { isLocked } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { LockWait } from "../../smb/files/lock-waits.ts";
import { Command } from "../../smb/wire/protocol.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, type AdminResponse } from "../admin-response.ts";
import type { Feed } from "../feed/feed.ts";
import type { FeedEvent } from "../feed/feed-event.ts";
import { objectKey } from "../feed/watched-objects.ts";
import type { CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { secondsUntil } from "./moments.ts";
import { Names } from "./names.ts";
import { fileTargetOf } from "./open-files.ts";
import { breakHolders, findCycles, rangeHolders, type Holder } from "./wait-graph.ts";

/** How long after a rejection a client counts as one that tries again. */
const leaseWaitTicks = 60n * ticksPerSecond;
const waitsMax = 500;

/** Clients that wait: for SMB locks, for breaks of caching grants, and for leases. */
export function waitRoutes(context: ViewContext, feed: Feed): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/admin/v1/waits",
      access: "principal",
      query: {},
      answer: (request) => list(context, feed, request),
    },
  ];
}

interface Wait {
  readonly kind: "lock" | "break" | "lease";
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly waiter: {
    readonly client: string;
    readonly operation: string;
    readonly agent?: string | undefined;
  };
  readonly since: string;
  readonly seconds: number;
  /** Rejected requests of a client that tries to get a lease; absent for requests that wait. */
  readonly attempts?: number;
  readonly holders: readonly Holder[];
}

async function list(
  { runtime, smb, httpServices, otherWorkers, clock }: ViewContext,
  feed: Feed,
  { sees }: CheckedRequest,
): Promise<AdminResponse> {
  const now = clock.wall();
  const own = httpServices.file?.runtime.waits?.list() ?? [];
  const calls = [...own, ...((await otherWorkers?.waits()) ?? [])];
  const requests = (smb?.waits() ?? []).map(({ command, ...wait }) => ({
    ...wait,
    operation: commandNames.get(command) ?? `command ${command}`,
  }));
  const pending = [...requests, ...calls.map(lockWaitOfCall)].slice(0, waitsMax);
  const locked = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const names = new Names(records);
    const waits: (Wait | undefined)[] = [];
    for (const wait of pending) waits.push(await lockWaitOf({ records, names, now }, wait));
    return waits;
  });
  const leases = leaseWaits([...feed.events.latest()], now);
  const isSeen = (wait: Wait | undefined): wait is Wait =>
    wait !== undefined && sees({ ...wait, name: wait.container });
  const waits = [...locked, ...leases].filter(isSeen).slice(0, waitsMax);
  const edges = waits
    .filter(({ kind }) => kind !== "lease")
    .map(({ waiter, holders }) => ({
      waiter: waiter.client,
      holders: holders.map(({ client }) => client),
    }));
  return json({ now: formatIso(now), waits, cycles: findCycles(edges) });
}

interface PendingWait extends Omit<LockWait, "command"> {
  readonly operation: string;
}

/** A REST request that waits for a break of caching grants: for a change of the lock state of the
 *  file. */
function lockWaitOfCall({ operation, key, since }: CallWait): PendingWait {
  const [share, file] = locks.parts(key) as [bigint, bigint];
  return { share, file, client: restClient, operation, ranges: undefined, since };
}

/** A waiting REST request has no address: its connection may be that of a gateway. */
const restClient = "REST";

interface LockWaitContext {
  readonly records: RecordView;
  readonly names: Names;
  readonly now: Ticks;
}

const commandNames = new Map<number, string>([
  [Command.create, "CREATE"],
  [Command.write, "WRITE"],
  [Command.lock, "LOCK"],
  [Command.ioctl, "IOCTL"],
  [Command.setInfo, "SET_INFO"],
]);

async function lockWaitOf(
  { records, names, now }: LockWaitContext,
  { share, file, client, operation, ranges, since }: PendingWait,
): Promise<Wait | undefined> {
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

/** Clients whose requests were rejected because of a lease in the last minute. Azure leases have no
 *  queue: a client that wants one tries again. `events` are the newest first. */
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

/** The client that acquired a lease, if the feed has recorded it. */
function leaseHolder(events: readonly FeedEvent[], id: string): Holder {
  const acquired = events.find(({ lease }) => lease?.id === id);
  return { client: acquired?.address ?? "", lease: id, what: `lease ${id}` };
}
