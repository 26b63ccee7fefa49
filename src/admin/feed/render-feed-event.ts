import { formatHttpDate, formatIso } from "../../base/dates.ts";
import type { IdentitySettings } from "../../account/identity.ts";
import { rolesGranting, type ActionNeed } from "../../protocol/roles/role.ts";
import { formatETag } from "../../protocol/conditions.ts";
import { faultMessage, type HandleHolder } from "../../protocol/faults.ts";
import { isLocked, leaseState } from "../../protocol/lease.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { Service } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { HttpServices } from "../admin-context.ts";
import { secondsUntil } from "../admin-response.ts";
import type { FeedEvent, FeedRefusal } from "./feed-event.ts";

/** Renders an event of the request feed, which has references to objects, as the JSON that the feed
 *  and timelines return. */

/** Longer User-Agent headers are cut: clients choose their length. */
const agentUnitsMax = 200;

interface RenderContext {
  readonly httpServices: HttpServices;
  /** For names of principals; undefined without the token service. */
  readonly identity: IdentitySettings | undefined;
}

/** Returns the fields of an event. It builds one object whose undefined fields `JSON.stringify`
 *  omits: merging several objects took longer than the rest of the rendering. */
export function renderFeedEvent(
  { httpServices, identity }: RenderContext,
  event: FeedEvent,
): object {
  const { service, place, refused, lease } = event;
  const action = lease?.action;
  const time = lease?.timeSeconds;
  return {
    at: formatIso(event.at),
    requestId: event.requestId,
    service,
    operation: event.operation,
    method: event.method,
    account: event.account,
    container: place.name,
    path: place.path,
    partitionKey: place.entity?.partitionKey,
    rowKey: place.entity?.rowKey,
    status: event.status,
    etag: event.etag === undefined ? undefined : etagOf(httpServices, service, event.etag),
    kind: lease?.kind,
    action: action?.action,
    id: lease?.id,
    durationSeconds: action?.action === "acquire" ? action.durationSeconds : undefined,
    secondsLeft: time === undefined ? undefined : Number(time),
    code: refused && (refused.fault?.code ?? "ConditionNotMet"),
    message:
      refused && (refused.fault === undefined ? "Not modified." : faultMessage(refused.fault)),
    rule: refused?.rule,
    condition: refused && renderCondition(httpServices, service, refused),
    lease: refused?.isAboutLease ? leaseAgainst(refused) : undefined,
    missing: refused?.missing && renderMissing(identity, refused.missing),
    heldBy: refused?.fault?.detail?.heldBy?.map(renderHolder),
    caller: {
      kind: event.principal,
      objectId: event.objectId,
      name: nameOf(identity, event.objectId),
      address: event.address,
      agent: event.agent?.slice(0, agentUnitsMax),
    },
  };
}

function nameOf(
  identity: IdentitySettings | undefined,
  objectId: string | undefined,
): string | undefined {
  const id = objectId?.toLowerCase();
  return identity?.principals.find((each) => each.objectId.toLowerCase() === id)?.name;
}

/** The actions that the principal lacks, and the roles that would grant them. */
function renderMissing(identity: IdentitySettings | undefined, missing: ActionNeed): object {
  return { actions: missing, roles: rolesGranting(missing, identity?.roles ?? []) };
}

export function etagOf(httpServices: HttpServices, service: ServiceName, newETag: Ticks): string {
  return etagText(httpServices[service]?.service, newETag);
}

/** An ETag value in the format of the service: the formats of blobs and entities differ. */
export function etagText(service: Service | undefined, newETag: Ticks): string {
  return service?.dialect?.etagHeaders(newETag)["ETag"] ?? formatETag(newETag);
}

function renderHolder({ id, client }: HandleHolder): object {
  return { open: String(id), client };
}

function renderCondition(
  httpServices: HttpServices,
  service: ServiceName,
  { unmet, asked, etag }: FeedRefusal,
): object | undefined {
  if (unmet === undefined) return undefined;
  const isDate = unmet === "If-Modified-Since" || unmet === "If-Unmodified-Since";
  const present = (newETag: Ticks): string =>
    isDate ? formatHttpDate(newETag) : etagOf(httpServices, service, newETag);
  const actual = etag === undefined ? null : present(etag);
  return { header: unmet, expected: asked === undefined ? [] : [asked], actual };
}

function leaseAgainst({ lease, given, now }: FeedRefusal): object {
  const moment = now ?? 0n;
  const holder = lease !== undefined && isLocked(lease, moment) ? lease.id : null;
  const ends = lease?.breaksAt ?? lease?.expiresAt;
  const left = ends === undefined ? null : secondsUntil(ends, moment);
  return { given: given ?? null, holder, state: leaseState(lease, moment), secondsLeft: left };
}
