import type { TimelineOf } from "../admin/timeline.ts";
import { formatRoute } from "../route.ts";

/** The address of the timeline of an object. */
export function timelineRoute(of: TimelineOf): string {
  return formatRoute("timeline", [], { ...of });
}

/** The object in the query of an address; undefined for all objects. */
export function timelineIn(query: Readonly<Record<string, string>>): TimelineOf | undefined {
  const { service, account, container, path, partitionKey, rowKey } = query;
  if (service === undefined || account === undefined || container === undefined) return undefined;
  return { service, account, container, path, partitionKey, rowKey };
}
