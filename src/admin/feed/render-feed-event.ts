import { formatHttpDate, formatIso } from "../../base/dates.ts";
import { formatETag } from "../../protocol/etag.ts";
import { faultMessage, type HandleHolder } from "../../protocol/faults.ts";
import { isLocked, leaseState, type Lease } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { HttpServices } from "../admin-context.ts";
import { secondsUntil } from "../views/moments.ts";
import type { FeedEvent, FeedRefusal } from "./feed-event.ts";

const agentUnitsMax = 200;

/** As the feed and the timeline tell it. One object, whose fields are left out where they are
 *  undefined: joining several would cost more than all the rest. */
export function renderFeedEvent(doors: HttpServices, seen: FeedEvent): object {
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
export function etagOf(doors: HttpServices, service: ServiceName, newETag: Ticks): string {
  const dialect = doors[service]?.service.dialect;
  return dialect?.etagHeaders(newETag)["ETag"] ?? formatETag(newETag);
}

function messageOf({ fault }: FeedRefusal): string {
  return fault === undefined ? "Not modified." : faultMessage(fault);
}

function shownHolder({ id, client }: HandleHolder): object {
  return { open: String(id), client };
}

function shownCondition(
  doors: HttpServices,
  service: ServiceName,
  { unmet, asked, etag }: FeedRefusal,
): object | undefined {
  if (unmet === undefined) return undefined;
  const isDate = unmet === "If-Modified-Since" || unmet === "If-Unmodified-Since";
  const present = (newETag: Ticks): string =>
    isDate ? formatHttpDate(newETag) : etagOf(doors, service, newETag);
  const actual = etag === undefined ? null : present(etag);
  return { header: unmet, expected: asked === undefined ? [] : [asked], actual };
}

function leaseAgainst({ lease, given, now }: FeedRefusal): object {
  const moment = now ?? 0n;
  const holder = holderOf(lease, moment);
  const ends = lease?.breaksAt ?? lease?.expiresAt;
  const left = ends === undefined ? null : secondsUntil(ends, moment);
  return { given: given ?? null, holder, state: leaseState(lease, moment), secondsLeft: left };
}

function holderOf(lease: Lease | undefined, now: Ticks): string | null {
  return lease !== undefined && isLocked(lease, now) ? lease.id : null;
}
