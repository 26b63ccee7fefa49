import type { Result } from "../result.ts";
import { admin } from "./call.ts";
import type { Refusal } from "./feed.ts";

/** A stored state of an object or a request on it; the fields of a rejected request are set only
 *  for one. */
export interface TimelineEntry extends Partial<Omit<Refusal, "caller">> {
  readonly at: string;
  readonly what: string;
  readonly etag?: string;
  readonly contentLength?: number;
  readonly versionId?: string;
  readonly snapshot?: string;
  readonly caller?: Refusal["caller"];
}

export interface Timeline {
  readonly now: string;
  /** Since when requests are recorded; absent if they never were. */
  readonly watchedSince?: string;
  readonly etag: string | null;
  readonly entries: readonly TimelineEntry[];
}

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

/** Stored states of a blob, newest first; `next` continues the list. */
export interface StatesPage {
  readonly states: readonly TimelineEntry[];
  readonly next?: string;
}

const statesPerPage = 200;

export function getStates(
  of: TimelineOf,
  { after, signal }: { readonly after: string | undefined; readonly signal: AbortSignal },
): Promise<Result<StatesPage>> {
  return admin("states", { query: { ...of, after, limit: statesPerPage }, signal });
}
