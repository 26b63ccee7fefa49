import { formatIso } from "../../core/dates.ts";
import type { Address, ServiceName } from "../../core/operation.ts";
import type { QueryReader, SignedName } from "../../core/service.ts";
import type { Ticks } from "../../core/ticks.ts";
import { Records } from "../../execution/records.ts";
import type { Door } from "../../http/door.ts";
import type { Administered } from "../administered.ts";
import { json, refuse, type Answer } from "../answer.ts";
import type { Feed } from "../feed/feed.ts";
import type { Seen } from "../feed/seen.ts";
import { etagOf, shownSeen } from "../feed/shown.ts";
import type { Route } from "../routes.ts";
import { storedStates, type StoredState } from "./stored-states.ts";

const entriesMax = 1000;

export function timelineRoutes(administered: Administered, feed: Feed): readonly Route[] {
  const path = "/admin/v1/timeline";
  const answer = ({ query }: { readonly query: URLSearchParams }) =>
    timeline(administered, feed, query);
  return [{ method: "GET", path, answer }];
}

interface Place {
  readonly service: ServiceName;
  readonly door: Door;
  readonly account: string;
  readonly address: Address;
}

async function timeline(
  administered: Administered,
  feed: Feed,
  query: URLSearchParams,
): Promise<Answer> {
  const place = placeOf(administered, query);
  if (place === undefined) {
    return refuse(400, "InvalidInput", "service, account and container, please, and a path");
  }
  const { runtime, doors } = administered;
  const { service, account, address, door } = place;
  const resource = door.service.resources[address.resource];
  const { now, states } = await runtime.store.snapshot(async (view) => {
    const records = new Records(view, runtime.content);
    const located = await resource?.load(records, { account, address });
    const stored = located && (await storedStates(records, { service, address, located }));
    return { now: view.now, states: stored ?? [] };
  });
  const current = states.find(({ what }) => what === "current")?.etag;
  const entries = [
    ...states.map((state) => ({ at: state.at, shown: shownState(administered, service, state) })),
    ...[...feed.ring.latest()]
      .filter((seen) => isAbout(seen, place))
      .map((seen) => ({ at: seen.at, shown: { what: whatOf(seen), ...shownSeen(doors, seen) } })),
  ].toSorted((left, right) => compare(right.at, left.at));
  return json({
    now: formatIso(now),
    ...(feed.watchedSince === undefined ? {} : { watchedSince: formatIso(feed.watchedSince) }),
    etag: current === undefined ? null : etagOf(doors, service, current),
    entries: entries.slice(0, entriesMax).map(({ shown }) => shown),
  });
}

function placeOf({ doors, accounts }: Administered, query: URLSearchParams): Place | undefined {
  const service = query.get("service") as ServiceName;
  const door = Object.hasOwn(doors, service) ? doors[service] : undefined;
  const account = query.get("account") ?? "";
  const container = query.get("container") ?? "";
  if (door === undefined || container === "") return undefined;
  if (accounts.get(account) === undefined) return undefined;
  const path = query.get("path") ?? "";
  const identified = door.service.identify(...addressing(service, container, path, query));
  return identified.ok ? { service, door, account, address: identified.value } : undefined;
}

function addressing(
  service: ServiceName,
  container: string,
  path: string,
  query: URLSearchParams,
): [string, QueryReader] {
  const partition = query.get("partitionKey");
  const row = query.get("rowKey");
  if (service === "table") {
    const isEntity = partition !== null && row !== null;
    const keys = isEntity ? `(PartitionKey='${quoted(partition)}',RowKey='${quoted(row)}')` : "()";
    return [isEntity ? container + keys : `Tables('${quoted(container)}')`, noQuery];
  }
  if (path !== "") return [`${container}/${path}`, noQuery];
  return [container, service === "blob" ? containerQuery : noQuery];
}

const noQuery: QueryReader = { get: () => undefined };
const containerQuery: QueryReader = {
  get: (name) => (name === "restype" ? "container" : undefined),
};

function quoted(text: string): string {
  return text.replaceAll("'", "''");
}

function isAbout(seen: Seen, { service, door, account, address }: Place): boolean {
  if (seen.service !== service || seen.account !== account) return false;
  return isSame(seen.place, door.service.signedName(address));
}

function isSame(left: SignedName, right: SignedName): boolean {
  const isHere = left.name === right.name && left.path === right.path;
  if (!isHere) return false;
  return (
    left.entity?.partitionKey === right.entity?.partitionKey &&
    left.entity?.rowKey === right.entity?.rowKey
  );
}

function whatOf({ kind, method }: Seen): string {
  if (kind !== "change") return kind;
  return method === "DELETE" ? "delete" : "write";
}

function shownState({ doors }: Administered, service: ServiceName, state: StoredState): object {
  const { at, what, etag, facts } = state;
  const stamp = etag === undefined ? {} : { etag: etagOf(doors, service, etag) };
  return { at: formatIso(at), what, ...stamp, ...facts };
}

function compare(left: Ticks, right: Ticks): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
