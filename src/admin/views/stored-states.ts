import { generations, type BlobRecord } from "../../blob/records.ts";
import type { ContainerScope } from "../../blob/resources.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { formatIso } from "../../base/dates.ts";
import type { Address } from "../../operation/operation.ts";
import type { ServiceName } from "../../protocol/service-name.ts";
import type { LoadedResource } from "../../operation/service.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { RecordView } from "../../operation/view.ts";
import { versions, type VersionRecord } from "../../file/records.ts";
import type { NodeScope } from "../../file/resources.ts";

export interface StoredState {
  readonly at: Ticks;
  readonly what: "current" | "version" | "snapshot" | "deleted";
  readonly etag: Ticks | undefined;
  readonly facts: object;
}

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
    return [...current, ...(await generationsOf(view, container, name))];
  }
  if (service === "file" && address.resource === "file") {
    return [...current, ...(await versionsOf(view, located.scope.value as NodeScope))];
  }
  return current;
}

export interface LoadedTarget {
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

async function generationsOf(
  view: RecordView,
  container: bigint,
  name: string,
): Promise<readonly StoredState[]> {
  const states: StoredState[] = [];
  const bounds = { ...generations.range([container, name]), reverse: true, limit: statesMax };
  for await (const batch of view.scan(generations, bounds)) {
    for (const { key, record } of batch) states.push(generationState(key, record));
  }
  return states;
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

/** Earlier states of a file that share snapshots refer to. */
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
