import { formatIso } from "../../base/dates.ts";
import { generations, type BlobRecord } from "../../blob/records.ts";
import type { ContainerScope } from "../../blob/resources.ts";
import type { ViewContext } from "../admin-context.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";
import type { CheckedRequest } from "../request.ts";
import { declareRoute, type Route } from "../routes.ts";
import { objectChecks, objectTargetOf } from "./object-target.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import type { Address } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/names.ts";
import type { LoadedResource } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { versions, type VersionRecord } from "../../file/records.ts";
import type { NodeScope } from "../../file/resources.ts";
import { etagOf } from "../feed/render-feed-event.ts";
import { pageChecks, answerPage, type Page } from "./pages.ts";

/** The route that lists the stored states of a blob (versions, snapshots, soft-deleted ones) for
 *  the explorer: newest first and page by page, because List Blobs has the oldest first. */
export function stateRoute({ httpServices }: ViewContext): Route {
  const query = { ...objectChecks(httpServices), ...pageChecks };
  return declareRoute("GET /admin/v1/states", "principal", listStates, { query });
}

async function listStates(request: CheckedRequest): Promise<AdminResponse> {
  const { context } = request;
  const target = objectTargetOf(context.httpServices, request);
  if ("refusal" in target) return target.refusal;
  const { service, account, address, httpService } = target;
  if (service !== "blob" || address.resource !== "blob") {
    const message = "only blobs have pages of states; give service=blob and path";
    return refuse(400, "InvalidInput", message);
  }
  return answerPage(request, generations, async (records, { limit, after }) => {
    const now = formatIso(records.now);
    const located = await httpService.service.resources["blob"]?.load(records, {
      account,
      address,
    });
    if (located?.scope.ok !== true) return { view: { now, states: [] }, next: undefined };
    const { container, name } = (located.scope.value as ContainerScope).key;
    const page = await generationPage(records, { container, name, limit, after });
    const first = after === undefined ? currentState(located.target) : [];
    const states = [...first, ...page.items].map((state) => renderState(context, service, state));
    return { view: { now, states }, next: page.next };
  });
}

interface StoredState {
  readonly at: Ticks;
  readonly what: "current" | "version" | "snapshot" | "deleted";
  readonly etag: Ticks | undefined;
  readonly facts: object;
}

/** Most states on a timeline; the explorer requests older ones from `/admin/v1/states`. */
const statesMax = 1000;
const generationNames = ["version", "snapshot", "deleted"] as const;

/** The stored states of an object: current, versions, snapshots and soft-deleted ones. */
export async function storedStates(
  view: RecordView,
  { service, address, located }: LoadedTarget,
): Promise<readonly StoredState[]> {
  const current = currentState(located.target);
  if (!located.scope.ok) return current;
  if (service === "blob" && address.resource === "blob") {
    const { container, name } = (located.scope.value as ContainerScope).key;
    const { items } = await generationPage(view, { container, name, limit: statesMax });
    return [...current, ...items];
  }
  if (service === "file" && address.resource === "file") {
    return [...current, ...(await versionsOf(view, located.scope.value as NodeScope))];
  }
  return current;
}

interface LoadedTarget {
  readonly service: ServiceName;
  readonly address: Address;
  readonly located: LoadedResource;
}

interface AnyStored {
  readonly etag?: Ticks;
  readonly content?: ContentRef;
  readonly versionId?: Ticks | undefined;
}

function currentState(target: object | undefined): readonly StoredState[] {
  const record: AnyStored | undefined = target;
  if (record?.etag === undefined) return [];
  const { etag, content, versionId } = record;
  return [{ at: etag, what: "current", etag, facts: factsOf(content, versionId) }];
}

function factsOf(content: ContentRef | undefined, versionId?: Ticks): object {
  return {
    ...(content === undefined ? {} : { contentLength: content.length }),
    ...(versionId === undefined ? {} : { versionId: formatIso(versionId) }),
  };
}

interface GenerationQuery {
  readonly container: bigint;
  readonly name: string;
  readonly limit: number;
  /** The key after which the page begins: `next` of an earlier page. */
  readonly after?: Uint8Array | undefined;
}

/** A page of the versions, snapshots and soft-deleted states of a blob, newest first. */
async function generationPage(
  view: RecordView,
  { container, name, limit, after }: GenerationQuery,
): Promise<Page<StoredState>> {
  const states: StoredState[] = [];
  const range = generations.range([container, name]);
  const end = after ?? range.end;
  let last: Uint8Array | undefined;
  let next: Uint8Array | undefined;
  // One more than a page shows whether there are older states.
  const bounds = { start: range.start, end, reverse: true, limit: limit + 1 };
  for await (const batch of view.scan(generations, bounds)) {
    for (const { key, record } of batch) {
      if (states.length === limit) next = last;
      else states.push(generationState(key, record));
      last = key;
    }
  }
  return { items: states, next };
}

function generationState(key: Uint8Array, record: BlobRecord): StoredState {
  const [, , at, kind] = generations.parts(key) as [bigint, string, Ticks, number];
  const { etag, content, versionId, snapshot, deleted } = record;
  const what = deleted === undefined ? (generationNames[kind] ?? "version") : "deleted";
  const facts = {
    ...factsOf(content, versionId),
    ...(snapshot === undefined ? {} : { snapshot: formatIso(snapshot) }),
    ...(deleted === undefined ? {} : { deletedAt: formatIso(deleted.at) }),
  };
  return { at: what === "snapshot" ? at : etag, what, etag, facts };
}

/** Earlier states of a file, newest first: stored as long as a share snapshot contains them. */
async function versionsOf(view: RecordView, { key }: NodeScope): Promise<readonly StoredState[]> {
  const { share, parent, folded } = key;
  const range = versions.range([share, parent, folded]);
  const states: StoredState[] = [];
  for await (const batch of view.scan(versions, { ...range, reverse: true, limit: statesMax })) {
    for (const { record } of batch) states.push(versionState(record));
  }
  return states;
}

function versionState({ etag, content }: VersionRecord): StoredState {
  return { at: etag, what: "snapshot", etag, facts: factsOf(content) };
}

export function renderState(
  { httpServices }: Pick<ViewContext, "httpServices">,
  service: ServiceName,
  { at, what, etag, facts }: StoredState,
): object {
  const shownETag = etag === undefined ? {} : { etag: etagOf(httpServices, service, etag) };
  return { at: formatIso(at), what, ...shownETag, ...facts };
}
