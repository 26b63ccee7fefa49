import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { Timeline, StatesPage } from "../../../src/admin/api-types.ts";

export type { TimelineEntry } from "../../../src/admin/api-types.ts";

export interface TimelineOf {
  readonly service: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string | undefined;
  readonly partitionKey?: string | undefined;
  readonly rowKey?: string | undefined;
}

export function getTimeline(of: TimelineOf, signal?: AbortSignal): Promise<Result<Timeline>> {
  return admin("timeline", { query: { ...of }, signal });
}

const statesPerPage = 200;

export function getStates(
  of: TimelineOf,
  { after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal },
): Promise<Result<StatesPage>> {
  return admin("states", { query: { ...of, after, limit: statesPerPage }, signal });
}
