import { formatIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { ViewContext } from "../admin-context.ts";
import { json, type AdminResponse } from "../admin-response.ts";
import { isSameObject, type FeedEvent } from "../feed/feed-event.ts";
import { etagOf } from "../feed/render-feed-event.ts";
import type { CheckedRequest } from "../request.ts";
import type { Route } from "../routes.ts";
import { objectChecks, objectTargetOf } from "./object-target.ts";
import { renderState, storedStates } from "./states.ts";
import { readRecords } from "./pages.ts";

const entriesMax = 1000;

/** The route that returns what has happened to one object: its stored states (versions and
 *  snapshots), and the requests on it that the request feed still has in memory. */
export function timelineRoute({ httpServices }: ViewContext): Route {
  const query = objectChecks(httpServices);
  const path = "/admin/v1/timeline";
  return { method: "GET", path, access: "principal", query, answer: timeline };
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
export function whatOf({ kind, method }: FeedEvent): string {
  if (kind !== "change") return kind;
  return method === "DELETE" ? "delete" : "write";
}

function compare(left: Ticks, right: Ticks): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
