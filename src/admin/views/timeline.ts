import type { Accounts } from "../../account/settings.ts";
import { formatIso } from "../../base/dates.ts";
import { faultMessage, type Fault } from "../../protocol/faults.ts";
import type { Address } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { QueryReader, SignedName } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import { Records } from "../../operation/records.ts";
import type { HttpService } from "../../http/http-service.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, noAccount, refuse, type AdminResponse } from "../admin-response.ts";
import { oneOf, optional, formatValue, textCheck, type Checks } from "../inputs.ts";
import type { Feed } from "../feed/feed.ts";
import type { FeedEvent } from "../feed/feed-event.ts";
import { etagOf, renderFeedEvent } from "../feed/render-feed-event.ts";
import type { CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { storedStates, type StoredState } from "./stored-states.ts";

const entriesMax = 1000;

export function timelineRoutes(context: ViewContext, feed: Feed): readonly Route[] {
  const path = "/admin/v1/timeline";
  const query: Checks = {
    service: oneOf(Object.keys(context.httpServices)),
    account: textCheck,
    container: textCheck,
    path: optional(textCheck),
    partitionKey: optional(textCheck),
    rowKey: optional(textCheck),
  };
  return [
    {
      method: "GET",
      path,
      access: "account",
      query,
      answer: (request) => timeline(context, feed, request),
    },
  ];
}

interface TimelineTarget {
  readonly service: ServiceName;
  readonly httpService: HttpService;
  readonly account: string;
  readonly address: Address;
}

async function timeline(
  context: ViewContext,
  feed: Feed,
  { query, accounts }: CheckedRequest,
): Promise<AdminResponse> {
  const place = targetOf(context, accounts, query);
  if ("refusal" in place) return place.refusal;
  const { runtime, httpServices } = context;
  const { service, account, address, httpService } = place;
  const resource = httpService.service.resources[address.resource];
  const { now, states } = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const located = await resource?.load(records, { account, address });
    const stored = located && (await storedStates(records, { service, address, located }));
    return { now: view.now, states: stored ?? [] };
  });
  const current = states.find(({ what }) => what === "current")?.etag;
  const entries = [
    ...states.map((state) => ({ at: state.at, shown: renderState(context, service, state) })),
    ...[...feed.ring.latest()]
      .filter((seen) => isAbout(seen, place))
      .map((seen) => ({
        at: seen.at,
        shown: { what: whatOf(seen), ...renderFeedEvent(httpServices, seen) },
      })),
  ].toSorted((left, right) => compare(right.at, left.at));
  return json({
    now: formatIso(now),
    ...(feed.watchedSince === undefined ? {} : { watchedSince: formatIso(feed.watchedSince) }),
    etag: current === undefined ? null : etagOf(httpServices, service, current),
    entries: entries.slice(0, entriesMax).map(({ shown }) => shown),
  });
}

/** Resolves the checked parameters to a resource, or rejects combinations that name none. */
function targetOf(
  { httpServices }: ViewContext,
  accounts: Accounts,
  query: URLSearchParams,
): TimelineTarget | { readonly refusal: AdminResponse } {
  const service = query.get("service") as ServiceName;
  const httpService = httpServices[service];
  const account = query.get("account") ?? "";
  if (httpService === undefined || accounts.get(account) === undefined) {
    return { refusal: noAccount(account) };
  }
  const misplaced = findConflictingParameters(service, query);
  if (misplaced !== undefined) return { refusal: refuse(400, "InvalidInput", misplaced) };
  const container = query.get("container") ?? "";
  const alone = httpService.service.identify(...addressing(service, container, noQuery));
  if (!alone.ok) {
    const refused = nameProblem("container", container, alone.fault);
    return { refusal: refuse(400, "InvalidInput", `${refused} ${nameRule}`) };
  }
  const identified = httpService.service.identify(...addressing(service, container, query));
  if (identified.ok) return { service, httpService, account, address: identified.value };
  const part = service === "table" ? "partitionKey" : "path";
  const refused = nameProblem(part, query.get(part) ?? "", identified.fault);
  return { refusal: refuse(400, "InvalidInput", refused) };
}

function findConflictingParameters(
  service: ServiceName,
  query: URLSearchParams,
): string | undefined {
  const has = (name: string): boolean => query.has(name);
  if (service !== "table") {
    const key = ["partitionKey", "rowKey"].find(has);
    return key && `${key} is for table entities; ${service} uses path`;
  }
  if (query.get("path")) return "path is not for tables; use partitionKey and rowKey";
  const isHalf = has("partitionKey") !== has("rowKey");
  return isHalf ? "partitionKey and rowKey must be given together" : undefined;
}

/** A problem with a name, with the message of the service. */
function nameProblem(part: string, given: string, fault: Fault): string {
  return `${part} ${formatValue(given)}: ${faultMessage(fault)}`;
}

/** Added to the message of the service, which does not say what is allowed. Not for table names,
 *  which have other rules. */
const nameRule = "Names have 3 to 63 characters: a to z, 0 to 9 and hyphens between them.";

function addressing(
  service: ServiceName,
  container: string,
  query: Pick<URLSearchParams, "get">,
): [string, QueryReader] {
  const path = query.get("path") ?? "";
  const partition = query.get("partitionKey");
  const row = query.get("rowKey");
  if (service === "table") {
    const isEntity = partition !== null && row !== null;
    const keys = isEntity ? `(PartitionKey='${quoted(partition)}',RowKey='${quoted(row)}')` : "()";
    return [isEntity ? container + keys : `Tables('${quoted(container)}')`, nothingElse];
  }
  if (path !== "") return [`${container}/${path}`, nothingElse];
  return [container, service === "blob" ? containerQuery : nothingElse];
}

const noQuery = { get: () => null };
const nothingElse: QueryReader = { get: () => undefined };
const containerQuery: QueryReader = {
  get: (name) => (name === "restype" ? "container" : undefined),
};

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}

function isAbout(
  seen: FeedEvent,
  { service, httpService, account, address }: TimelineTarget,
): boolean {
  if (seen.service !== service || seen.account !== account) return false;
  return isSame(seen.place, httpService.service.signedName(address));
}

function isSame(left: SignedName, right: SignedName): boolean {
  const isHere = left.name === right.name && left.path === right.path;
  if (!isHere) return false;
  return (
    left.entity?.partitionKey === right.entity?.partitionKey &&
    left.entity?.rowKey === right.entity?.rowKey
  );
}

function whatOf({ kind, method }: FeedEvent): string {
  if (kind !== "change") return kind;
  return method === "DELETE" ? "delete" : "write";
}

function renderState(
  { httpServices }: ViewContext,
  service: ServiceName,
  state: StoredState,
): object {
  const { at, what, etag, facts } = state;
  const shownETag = etag === undefined ? {} : { etag: etagOf(httpServices, service, etag) };
  return { at: formatIso(at), what, ...shownETag, ...facts };
}

function compare(left: Ticks, right: Ticks): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
