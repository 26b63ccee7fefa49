import { formatIso } from "../../base/dates.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { ViewContext } from "../admin-context.ts";
import { etagOf } from "../feed/render-feed-event.ts";
import type { StoredState } from "./stored-states.ts";

/** A stored state as the views contain it. */
export function renderState(
  { httpServices }: Pick<ViewContext, "httpServices">,
  service: ServiceName,
  { at, what, etag, facts }: StoredState,
): object {
  const shownETag = etag === undefined ? {} : { etag: etagOf(httpServices, service, etag) };
  return { at: formatIso(at), what, ...shownETag, ...facts };
}
