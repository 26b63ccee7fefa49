import type { AccountRecord, AccountScope } from "../account/account-record.ts";
import {
  corsRulesFor,
  loadAccount,
  namedResource,
  serviceResource,
} from "../account/service-resource.ts";
import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import { formatIso } from "../base/dates.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { parseFilePath } from "../protocol/file-names.ts";
import { operationsOf, type Operation, type TargetPolicy } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { defineResource } from "../operation/service.ts";
import type { GuardContext, LoadedResource, LoadRequest } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";
import type { FileAddress } from "./file-address.ts";
import { restEvents } from "./events.ts";
import type { LockState } from "./locks/lock-state.ts";
import { deletePending } from "./locks/rest-access.ts";
import {
  locks,
  nodes,
  shares,
  shareSnapshots,
  type NodeKey,
  type NodeRecord,
  type ShareRecord,
  type ShareSnapshotRecord,
} from "./records.ts";
import { nodeById, resolvePath, type HardLink, type ResolvedPath } from "./share-tree.ts";

/** Loads what a REST request addresses (the service, a share, a directory or a file), before its
 *  operation decides. */

interface ShareScope extends AccountScope {
  /** The share itself, even if the address is a snapshot of it. */
  readonly current: ShareRecord;
}

/** The scope of a file or directory: its share and parent directory exist; it may not. */
export interface NodeScope extends AccountScope {
  readonly share: ShareRecord;
  readonly snapshot: ShareSnapshotRecord | undefined;
  /** Key of the target, or the key that it would get. */
  readonly key: NodeKey;
  /** The last path component as it would be stored. */
  readonly name: string;
  readonly parent: NodeRecord;
  /** Ids of the directories from the root to the parent of the path, for renames. */
  readonly trail: readonly bigint[];
  /** The components of the requested path, from the root of the share to the target, as the client
   *  spelled them. */
  readonly components: readonly string[];
  /** Lock state of the target; undefined if it is not open or in a snapshot. */
  readonly locks: LockState | undefined;
  /** The hard link that the address names; undefined for any other name. The target is the file
   *  that it refers to, which is stored at `key` in the directory `parent`. */
  readonly hardLink: HardLink | undefined;
}

/** The types of scope and target of each resource, for the declarations of operations. */
export interface FileResources {
  readonly [name: string]: { scope: object; target: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
  readonly share: {
    scope: Partial<ShareScope> & AccountScope;
    target: ShareRecord;
    options: WritePolicies;
  };
  readonly directory: { scope: NodeScope; target: NodeRecord };
  readonly file: { scope: NodeScope; target: NodeRecord };
  /** A file or a directory. */
  readonly entry: { scope: NodeScope; target: NodeRecord };
}

/** What an operation that writes accepts, although most reject it (`guard`). */
export interface WritePolicies {
  /** Set if the operation writes to share snapshots. */
  readonly acceptsSnapshot?: true;
  /** Set if the operation writes to files whose copy is still pending. */
  readonly acceptsPendingCopy?: true;
}

/** The first x-ms-version of the File service; operations may declare a later one. */
export const firstVersion = "2015-02-21";

/** Declares a REST operation on the service or a share; for files there is `fileOperation`. */
export const operation = operationsOf<Pick<FileResources, "service" | "share">, FileAddress>(
  firstVersion,
);

/** The parameter of an operation that changes how the path is parsed. */
interface PathInput {
  readonly keepsTrailingDots?: boolean | undefined;
}

/** Synchronous if the store is, because each promise costs time, and most requests to files run
 *  through here. */
function loadNode(view: RecordView, request: LoadRequest<FileAddress>): Awaitable<LoadedResource> {
  return mapAwaitable(loadAccount(view, request), (account) => {
    const key = { account: account.id, name: request.address.share };
    return mapAwaitable(view.get(shares, key), (found) =>
      found === undefined
        ? withoutScope({ account, share: undefined }, fail("ShareNotFound"))
        : loadInShare(view, request, { account, share: found }),
    );
  });
}

/** Where a path begins. */
interface ShareOfPath extends AccountScope {
  readonly share: ShareRecord;
}

/** What is loaded if the scope of the target does not exist. */
function withoutScope(
  { account, share: access }: AccountScope & { readonly share: ShareRecord | undefined },
  failure: Result<never>,
): LoadedResource {
  return { access, scope: failure, target: undefined, cors: corsOf(account) };
}

function loadInShare(
  view: RecordView,
  request: LoadRequest<FileAddress>,
  place: ShareOfPath,
): Awaitable<LoadedResource> {
  const { keepsTrailingDots = false }: PathInput = request.input ?? {};
  const parsed = parseFilePath(request.address.path, { keepsTrailingDots });
  if (!parsed.ok) return withoutScope(place, parsed);
  return mapAwaitable(findSnapshot(view, place.share, request.address.snapshot), (snapshot) => {
    if (!snapshot.ok) return withoutScope(place, snapshot);
    const { account, share: within } = place;
    const path = { account, share: within, snapshot: snapshot.value, components: parsed.value };
    const tree = { share: within.id, epoch: snapshot.value?.epoch };
    return mapAwaitable(resolvePath(view, tree, path.components), (resolved) =>
      loadResolved(view, request, path, resolved),
    );
  });
}

type PathPlace = Pick<NodeScope, "account" | "share" | "snapshot" | "components">;

function loadResolved(
  view: RecordView,
  request: LoadRequest<FileAddress>,
  place: PathPlace,
  resolved: ResolvedPath,
): Awaitable<LoadedResource> {
  const { parent, target } = resolved;
  const { share: within, snapshot } = place;
  if (parent === undefined) return withoutScope(place, fail("ParentNotFound"));
  if (target === undefined) {
    if (!mayCreate(request)) return loadedAt(place, resolved, { parent, held: undefined });
    return mapAwaitable(isDeletePending(view, within, parent), (isPending) =>
      isPending
        ? withoutScope(place, deletePending)
        : loadedAt(place, resolved, { parent, held: undefined }),
    );
  }
  return mapAwaitable(parentOf(view, within.id, resolved, parent), (stored) => {
    const found = snapshot === undefined ? lockStateOf(view, within, target) : undefined;
    return mapAwaitable(found, (held) => loadedAt(place, resolved, { parent: stored, held }));
  });
}

function loadedAt(
  { account, share: within, snapshot, components }: PathPlace,
  { key, trail, target, hardLink }: ResolvedPath,
  { parent, held }: { readonly parent: NodeRecord; readonly held: LockState | undefined },
): LoadedResource {
  const scope: NodeScope = {
    account,
    share: within,
    snapshot,
    key,
    name: (hardLink === undefined ? undefined : target?.name) ?? components.at(-1) ?? "",
    parent,
    trail,
    components,
    locks: held,
    hardLink,
  };
  return { access: within, scope: ok(scope), target, cors: corsOf(account) };
}

function lockStateOf(
  view: RecordView,
  { id: within }: ShareRecord,
  { id }: NodeRecord,
): Awaitable<LockState | undefined> {
  return view.get(locks, { share: within, id });
}

/** Whether an SMB client has marked a directory for deletion: then no file can be created in it. */
function isDeletePending(
  view: RecordView,
  within: ShareRecord,
  directory: NodeRecord,
): Awaitable<boolean> {
  const found = lockStateOf(view, within, directory);
  return mapAwaitable(found, (held) => held?.deletePending === true);
}

/** The parent directory under whose id the target is stored; for a hard link, that of its file. */
function parentOf(
  view: RecordView,
  within: bigint,
  { hardLink, target }: ResolvedPath,
  parent: NodeRecord,
): Awaitable<NodeRecord> {
  if (hardLink === undefined || target === undefined) return parent;
  return mapAwaitable(nodeById(view, within, target.parent), (found) => found ?? parent);
}

function findSnapshot(
  view: RecordView,
  { id: within }: ShareRecord,
  at: Ticks | undefined,
): Awaitable<Result<ShareSnapshotRecord | undefined>> {
  if (at === undefined) return noSnapshot;
  return mapAwaitable(view.get(shareSnapshots, { share: within, at }), (record) =>
    record === undefined ? fail("ShareNotFound") : ok(record),
  );
}

const noSnapshot = ok(undefined);

const creatingPolicies: ReadonlySet<TargetPolicy> = new Set(["may-exist", "must-not-exist"]);

/** Makes the function that loads the target of requests on files or on directories. A name of the
 *  other kind counts as missing, but cannot be created. */
function loadKind(kind: "file" | "directory") {
  return (view: RecordView, request: LoadRequest<FileAddress>): Awaitable<LoadedResource> =>
    mapAwaitable(loadNode(view, request), (located) => {
      const target = located.target as NodeRecord | undefined;
      const isDirectory = target?.kind === "directory";
      if (target === undefined || isDirectory === (kind === "directory")) return located;
      const scope = creates(request) ? fail("ResourceTypeMismatch") : located.scope;
      return { ...located, target: undefined, scope };
    });
}

function mayCreate(request: LoadRequest<FileAddress>): boolean {
  const { target, effect } = request.operation ?? {};
  return creates(request) || (target === "optional" && effect === "writes");
}

function creates({ operation: selected }: LoadRequest<FileAddress>): boolean {
  return selected !== undefined && creatingPolicies.has(selected.target);
}

const corsOf = corsRulesFor("file");

/** Rejects writes to snapshots, and to the target of a pending copy, except by operations that
 *  accept them. */
function guard({ operation: selected, address, target }: GuardContext<FileAddress>) {
  const { effect, acceptsSnapshot, acceptsPendingCopy }: Operation & WritePolicies = selected;
  const { snapshot } = address;
  if (effect === "reads") return passed;
  if (snapshot !== undefined && acceptsSnapshot !== true) {
    return invalidQuery("sharesnapshot", formatIso(snapshot));
  }
  const { copy } = (target ?? {}) as Partial<NodeRecord>;
  const isCopying = copy?.status === "pending" && acceptsPendingCopy !== true;
  return isCopying ? fail("PendingCopyOperation") : passed;
}

const passed = ok(undefined);

const service = serviceResource("file", "share");

const shareByName = namedResource<FileAddress>({
  service: "file",
  nameOf: (address) => address.share,
  find: (view, key) => view.get(shares, key),
  table: anyTable(shares),
  missing: "ShareNotFound",
  present: "ShareAlreadyExists",
  reserved: "ShareBeingDeleted",
  leaseKind: "share",
  guard,
});

/** A share or one of its snapshots. The scope has the share itself, if it exists. */
const share = defineResource<FileAddress>({
  ...shareByName,
  load: async (view, request) => {
    const loaded = await shareByName.load(view, request);
    if (loaded.target === undefined || !loaded.scope.ok) return loaded;
    const current = loaded.target as ShareRecord;
    const scope = ok({ ...loaded.scope.value, current });
    const { snapshot: at } = request.address;
    if (at === undefined) return { ...loaded, scope };
    return { ...loaded, scope, target: await view.get(shareSnapshots, { share: current.id, at }) };
  },
});

const node = {
  table: anyTable(nodes),
  keyOf: (scope: object) => (scope as NodeScope).key,
  missing: "ResourceNotFound",
  present: "ResourceAlreadyExists",
  leaseKind: "file",
  guard,
  eventsOf: restEvents,
} as const;

const directory = defineResource<FileAddress>({ ...node, load: loadKind("directory") });
const file = defineResource<FileAddress>({ ...node, load: loadKind("file") });
const entry = defineResource<FileAddress>({ ...node, load: loadNode });

export const resources = { service, share, directory, file, entry };
