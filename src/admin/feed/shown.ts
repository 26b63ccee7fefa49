import { formatHttpDate, formatIso } from "../../core/dates.ts";
import { formatETag } from "../../core/etag.ts";
import { faultMessage, type HandleHolder } from "../../core/faults.ts";
import { isLocked, leaseState, type Lease } from "../../core/lease.ts";
import type { ServiceName } from "../../core/operation.ts";
import type { SignedName } from "../../core/service.ts";
import type { Ticks } from "../../core/ticks.ts";
import type { Doors } from "../administered.ts";
import { secondsUntil } from "../views/moments.ts";
import type { Seen, SeenLease, SeenRefusal } from "./seen.ts";

const agentUnitsMax = 200;

/** As the feed and the timeline tell it. */
export function shownSeen(doors: Doors, seen: Seen): object {
  const { kind, at, service, operation, status, etag } = seen;
  const where = { at: formatIso(at), service, account: seen.account, ...shownPlace(seen.place) };
  const caller = shownCaller(seen);
  if (kind === "lease" && seen.lease !== undefined) {
    return { ...where, operation, status, ...shownLease(seen.lease), caller };
  }
  const common = { ...where, requestId: seen.requestId, operation, method: seen.method, status };
  if (seen.refused !== undefined) {
    return { ...common, ...shownRefusal(doors, service, seen.refused), caller };
  }
  const stamp = etag === undefined ? {} : { etag: etagOf(doors, service, etag) };
  return { ...common, ...stamp, caller };
}

export function shownPlace({ name, path, entity }: SignedName): object {
  return {
    ...(name === undefined ? {} : { container: name }),
    ...(path === undefined ? {} : { path }),
    ...(entity === undefined ? {} : { partitionKey: entity.partitionKey, rowKey: entity.rowKey }),
  };
}

/** In the form that the service itself gives its ETags. */
export function etagOf(doors: Doors, service: ServiceName, stamp: Ticks): string {
  const dialect = doors[service]?.service.dialect;
  return dialect?.stampHeaders(stamp)["ETag"] ?? formatETag(stamp);
}

function shownCaller({ principal, address, agent }: Seen): object {
  const told = agent === undefined ? {} : { agent: agent.slice(0, agentUnitsMax) };
  return { kind: principal, address, ...told };
}

function shownLease({ kind, action, id, timeSeconds }: SeenLease): object {
  return {
    kind,
    action: action.action,
    ...(id === undefined ? {} : { id }),
    ...(action.action === "acquire" ? { durationSeconds: action.durationSeconds } : {}),
    ...(timeSeconds === undefined ? {} : { secondsLeft: Number(timeSeconds) }),
  };
}

function shownRefusal(doors: Doors, service: ServiceName, refused: SeenRefusal): object {
  const { fault, rule, unmet } = refused;
  const heldBy = fault?.detail?.heldBy;
  return {
    code: fault?.code ?? "ConditionNotMet",
    message: fault === undefined ? "Not modified." : faultMessage(fault),
    rule,
    ...(unmet === undefined ? {} : { condition: shownCondition(doors, service, refused) }),
    ...(refused.isAboutLease ? { lease: leaseAgainst(refused) } : {}),
    ...(heldBy === undefined ? {} : { heldBy: heldBy.map(shownHolder) }),
  };
}

function shownHolder({ id, client }: HandleHolder): object {
  return { open: String(id), client };
}

function shownCondition(doors: Doors, service: ServiceName, refused: SeenRefusal): object {
  const { unmet, asked, etag } = refused;
  const isDate = unmet === "If-Modified-Since" || unmet === "If-Unmodified-Since";
  const stamp = etag === undefined ? null : etagOf(doors, service, etag);
  const actual = isDate && etag !== undefined ? formatHttpDate(etag) : stamp;
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
