import { formatHttpDate, formatIso } from "../../core/dates.ts";
import { formatETag } from "../../core/etag.ts";
import { faultMessage, type HandleHolder } from "../../core/faults.ts";
import { isLocked, leaseState, type Lease } from "../../core/lease.ts";
import type { ServiceName } from "../../core/operation.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { Doors } from "../administered.ts";
import { secondsUntil } from "../views/moments.ts";
import type { Seen, SeenRefusal } from "./seen.ts";

const agentUnitsMax = 200;

/** As the feed and the timeline tell it. One object, whose fields are left out where they are
 *  undefined: joining several would cost more than all the rest. */
export function shownSeen(doors: Doors, seen: Seen): object {
  const { service, place, refused, lease } = seen;
  const action = lease?.action;
  const time = lease?.timeSeconds;
  return {
    at: formatIso(seen.at),
    requestId: seen.requestId,
    service,
    operation: seen.operation,
    method: seen.method,
    account: seen.account,
    container: place.name,
    path: place.path,
    partitionKey: place.entity?.partitionKey,
    rowKey: place.entity?.rowKey,
    status: seen.status,
    etag: seen.etag === undefined ? undefined : etagOf(doors, service, seen.etag),
    kind: lease?.kind,
    action: action?.action,
    id: lease?.id,
    durationSeconds: action?.action === "acquire" ? action.durationSeconds : undefined,
    secondsLeft: time === undefined ? undefined : Number(time),
    code: refused && (refused.fault?.code ?? "ConditionNotMet"),
    message: refused && messageOf(refused),
    rule: refused?.rule,
    condition: refused && shownCondition(doors, service, refused),
    lease: refused?.isAboutLease ? leaseAgainst(refused) : undefined,
    heldBy: refused?.fault?.detail?.heldBy?.map(shownHolder),
    caller: {
      kind: seen.principal,
      address: seen.address,
      agent: seen.agent?.slice(0, agentUnitsMax),
    },
  };
}

/** In the form that the service itself gives its ETags. */
export function etagOf(doors: Doors, service: ServiceName, stamp: Ticks): string {
  const dialect = doors[service]?.service.dialect;
  return dialect?.stampHeaders(stamp)["ETag"] ?? formatETag(stamp);
}

function messageOf({ fault }: SeenRefusal): string {
  return fault === undefined ? "Not modified." : faultMessage(fault);
}

function shownHolder({ id, client }: HandleHolder): object {
  return { open: String(id), client };
}

function shownCondition(
  doors: Doors,
  service: ServiceName,
  { unmet, asked, etag }: SeenRefusal,
): object | undefined {
  if (unmet === undefined) return undefined;
  const isDate = unmet === "If-Modified-Since" || unmet === "If-Unmodified-Since";
  const present = (stamp: Ticks): string =>
    isDate ? formatHttpDate(stamp) : etagOf(doors, service, stamp);
  const actual = etag === undefined ? null : present(etag);
  return { header: unmet, expected: asked === undefined ? [] : [asked], actual };
}

function leaseAgainst({ lease, given, now }: SeenRefusal): object {
  const moment = now ?? 0n;
  const holder = holderOf(lease, moment);
  const ends = lease?.breaksAt ?? lease?.expiresAt;
  const left = ends === undefined ? null : secondsUntil(ends, moment);
  return { given: given ?? null, holder, state: leaseState(lease, moment), secondsLeft: left };
}

function holderOf(lease: Lease | undefined, now: Ticks): string | null {
  return lease !== undefined && isLocked(lease, now) ? lease.id : null;
}
