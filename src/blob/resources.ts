import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import type { AccountRecord, AccountScope } from "../account/account-record.ts";
import {
  corsRulesFor,
  loadAccount,
  namedResource,
  serviceResource,
} from "../account/service-resource.ts";
import { emptyContent } from "../content/content-ref.ts";
import type { CorsRule } from "../protocol/cors.ts";
import {
  inputWithRole,
  operationsOf,
  type Address,
  type Operation,
} from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import {
  defineResource,
  type Access,
  type LoadedResource,
  type LoadRequest,
  type QueryReader,
  type SignedName,
} from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { fileTimeStart, type Ticks } from "../base/ticks.ts";
import type { RecordView } from "../operation/view.ts";
import { checkBlobPolicy, checkWritable, type BlobPolicy } from "./blob-policy.ts";
import { blobEvents } from "./events.ts";
import {
  blobs,
  containers,
  type BlobRecord,
  type ContainerRecord,
  type UploadRecord,
} from "./records.ts";
import { findUpload, type UploadLookup } from "./block/read-blocks.ts";
import { isPrefix } from "./shared/prefixes.ts";
import { findBlob, isSoftDeleted } from "./shared/overwrite.ts";
import { afterRehydration } from "./tier/rehydration.ts";
import {
  createParents,
  completeAccess,
  hasFolderMark,
  prefixDirectory,
} from "./tree/create-parents.ts";
import {
  findPath,
  withoutParents,
  accessOf as posixAccessOf,
  resourceType,
  type PathScope,
} from "./tree/find-path.ts";
import { type FaultDetail, invalidQuery } from "../protocol/faults.ts";
import type { Features } from "../protocol/features.ts";
import type { PathAccess } from "../protocol/posix-access.ts";
import { pageCandidates } from "./website/page-candidates.ts";
import { snapshotTime } from "../operation/common-params.ts";
import { checkBlobName, checkContainerName } from "../protocol/names.ts";

/** Finds and loads what a request of the Blob or Data Lake API addresses, before the operation
 *  decides. */

/** What a URL of the Blob or Data Lake API addresses. Names are empty if the URL does not contain
 *  them. */
export interface BlobAddress extends Address {
  readonly resource: "service" | "container" | "blob" | "page";
  readonly container: string;
  readonly blob: string;
  readonly snapshot: Ticks | undefined;
  readonly versionId: Ticks | undefined;
}

/** The scope of operations on blobs: the records above the blob. `key` is where the blob is
 *  stored. */
export interface ContainerScope extends AccountScope, PathScope {
  readonly container: ContainerRecord;
  /** Set if the URL of a rename lacks the account name, so that its first name is the container. */
  readonly isAccountOmitted?: true;
  /** The uncommitted blocks of a name without a blob; undefined if the operation does not depend on
   *  them. */
  readonly upload: UploadLookup | undefined;
}

/** The scope of a page of the account's static website. */
interface PageScope extends AccountScope {
  /** Whether the requested page does not exist, so that the target is the site's error document. */
  readonly missing: boolean;
}

interface BlobResources {
  readonly [name: string]: { scope: object; target: object; policy?: object };
  readonly service: { scope: AccountScope; target: AccountRecord };
  readonly container: { scope: AccountScope; target: ContainerRecord };
  readonly blob: { scope: ContainerScope; target: BlobRecord; policy: BlobPolicy };
  readonly page: { scope: PageScope; target: BlobRecord };
}

/** Declares an operation of the Blob API, with the first x-ms-version that has the API. */
export const operation = operationsOf<BlobResources, BlobAddress>("2009-09-19");
/** Declares an operation of the Data Lake API, which is newer than the Blob API. */
export const pathOperation = operationsOf<BlobResources, BlobAddress>("2018-11-09");

function loadBlob(view: RecordView, request: LoadRequest<BlobAddress>): Awaitable<LoadedResource> {
  const loaded = loadNamed(view, request);
  // The selected operation. Undefined if the blob is loaded as the source of a copy or rename.
  const { operation: selected } = request;
  const needsKind = selected === undefined || selected.permission.reachesBelow !== undefined;
  if (needsKind) return mapAwaitable(loaded, withKind);
  const { prefixes } = selected.policy as BlobPolicy;
  return prefixes === undefined ? loaded : withPrefix(view, loaded);
}

/** Adds a directory as the target if the name has no blob, but is the common prefix of names on a
 *  flat account. */
async function withPrefix(
  view: RecordView,
  found: Awaitable<LoadedResource>,
): Promise<LoadedResource> {
  const loaded = await found;
  if (loaded.target !== undefined || !loaded.scope.ok) return loaded;
  const scope = loaded.scope.value as ContainerScope;
  if (isHierarchical(scope) || !(await isPrefix(view, scope.key))) return loaded;
  const { etag } = scope.container;
  return { ...loaded, target: prefixDirectory(etag) };
}

/** Adds whether the blob is a file (`Access.isFile`), which authorisation asks if an operation also
 *  reaches what is below a directory. On flat accounts a name without a blob may be that of a
 *  directory: a common prefix of names. */
function withKind(loaded: LoadedResource): LoadedResource {
  const { access, scope, target } = loaded;
  if (access === undefined || !scope.ok) return loaded;
  const blob = target as BlobRecord | undefined;
  const isFile = isHierarchical(scope.value as ContainerScope)
    ? blob?.directory === undefined
    : blob !== undefined && !hasFolderMark(blob.metadata);
  return { ...loaded, access: { ...access, isFile } };
}

/** Loads the target of an operation. A rename names the whole new path, or an existing directory to
 *  which its parameter with the role `entry-name` is appended. */
function loadNamed(view: RecordView, request: LoadRequest<BlobAddress>): Awaitable<LoadedResource> {
  const { operation: selected, input } = request;
  if (selected?.roles?.["entry-name"] === undefined || input === undefined) {
    return loadPath(view, request);
  }
  const entryName = inputWithRole(selected, input, "entry-name");
  const sourceStart = inputWithRole(selected, input, "source-start");
  const mayOmitAccount = sourceStart !== undefined && sourceStart === request.account;
  const loaded = mayOmitAccount ? loadWithoutAccount(view, request) : loadPath(view, request);
  if (entryName === undefined) return loaded;
  return mapAwaitable(loaded, (found) => {
    if ((found.target as BlobRecord | undefined)?.directory === undefined) return found;
    const address = (found.address as BlobAddress | undefined) ?? request.address;
    const blob = address.blob === "" ? entryName : `${address.blob}/${entryName}`;
    const entry = { ...address, blob };
    const moved = loadPath(view, { ...request, address: entry });
    return mapAwaitable(moved, (there) => ({ ...there, address: entry }));
  });
}

/** Loads the target of a rename whose URL may lack the account (`http/request/target.ts`). Its
 *  first name is assumed to be that of the container if the second name is no container, but the
 *  first one is. */
async function loadWithoutAccount(
  view: RecordView,
  request: LoadRequest<BlobAddress>,
): Promise<LoadedResource> {
  const found = await loadPath(view, request);
  const { account, address, accountPlace } = request;
  if (found.scope.ok || accountPlace !== "path") return found;
  const blob = address.blob === "" ? address.container : `${address.container}/${address.blob}`;
  const moved = { ...address, container: account, blob };
  const there = await loadPath(view, { ...request, address: moved });
  if (!there.scope.ok) return found;
  const scope = ok({ ...there.scope.value, isAccountOmitted: true });
  return { ...there, scope, address: moved };
}

/** Loads the target by its path. Synchronous if the store is, because most requests to blobs run
 *  through here and each promise costs time. */
function loadPath(view: RecordView, request: LoadRequest<BlobAddress>): Awaitable<LoadedResource> {
  const { address } = request;
  return mapAwaitable(loadAccount(view, request), (account) => {
    const key = { account: account.id, name: address.container };
    return mapAwaitable(view.get(containers, key), (container) =>
      loadInContainer(view, request, account, container),
    );
  });
}

function loadInContainer(
  view: RecordView,
  request: LoadRequest<BlobAddress>,
  account: AccountRecord,
  container: ContainerRecord | undefined,
): Awaitable<LoadedResource> {
  const { address } = request;
  if (container === undefined) {
    const scope = fail("ContainerNotFound");
    return { access: undefined, scope, target: undefined, cors: corsOf(account) };
  }
  if (account.hierarchicalNamespace !== true) {
    const path = withoutParents({ container: container.id, name: address.blob });
    return loadTarget(view, request, scopeOf(account, container, path));
  }
  return mapAwaitable(findPath(view, container.id, address.blob), (path) =>
    loadTarget(view, request, scopeOf(account, container, path)),
  );
}

/** The scope of a blob. Lists the fields, because a spread would take longer than all else that the
 *  load of a blob does here. */
function scopeOf(
  account: AccountRecord,
  container: ContainerRecord,
  { key, ancestors, missingParents, hasFileAsParent }: PathScope,
): ContainerScope {
  const upload = undefined;
  return { account, container, key, ancestors, missingParents, hasFileAsParent, upload };
}

function loadTarget(
  view: RecordView,
  { address, operation: selected }: LoadRequest<BlobAddress>,
  scope: ContainerScope,
): Awaitable<LoadedResource> {
  return mapAwaitable(findBlob(view, scope.key, address), (found) => {
    const target = afterRehydration(found, view.now);
    const at = address.snapshot ?? address.versionId;
    if (target === undefined && at === undefined && dependsOnUpload(selected)) {
      return mapAwaitable(findUpload(view, scope), (upload) =>
        withUpload({ ...scope, upload }, upload, selected),
      );
    }
    const loaded = loadedOf(scope, target);
    if (target !== undefined || at === undefined) return loaded;
    return mapAwaitable(isSoftDeleted(view, scope.key, address, at), (isKept) =>
      isKept ? { ...loaded, missing: softDeleted } : loaded,
    );
  });
}

function loadedOf(scope: ContainerScope, target: BlobRecord | undefined): LoadedResource {
  const access = accessOf(scope.container);
  return {
    access: isHierarchical(scope)
      ? {
          ...access,
          path: () => ({
            ancestors: scope.ancestors.map(posixAccessOf),
            target: target && posixAccessOf(target),
          }),
        }
      : access,
    scope: ok(scope),
    target,
    lease: scope.upload?.live?.lease,
    cors: corsOf(scope.account),
  };
}

/** Whether uncommitted blocks must be loaded if there is no blob: the operation can run without
 *  one, or treats uncommitted blocks as one. */
function dependsOnUpload(selected: Operation | undefined): selected is Operation {
  if (selected === undefined) return false;
  return selected.target !== "must-exist" || treatsAsBlob(selected);
}

function treatsAsBlob({ policy }: Operation): boolean {
  return (policy as BlobPolicy).uncommitted !== undefined;
}

/** The loaded resource for a name without a blob: its uncommitted blocks, and their lease. */
function withUpload(
  scope: ContainerScope,
  { live }: UploadLookup,
  selected: Operation,
): LoadedResource {
  const loaded = loadedOf(scope, undefined);
  if (live === undefined || live.blockIdLength === 0) return loaded;
  const isTarget = treatsAsBlob(selected);
  const access =
    isTarget || selected.effect === "reads" ? uncommittedAccess(loaded, scope) : loaded.access;
  return { ...loaded, access, target: isTarget ? uncommittedBlob(live) : undefined };
}

/** The access control list that applies to uncommitted blocks, which have none: that of their
 *  directory, as when they were created. */
function uncommittedAccess(
  { access }: LoadedResource,
  scope: ContainerScope,
): LoadedResource["access"] {
  if (access?.path === undefined) return access;
  const path = (): PathAccess => {
    const ancestors = scope.ancestors.map(posixAccessOf);
    return { ancestors, target: ancestors.at(-1) };
  };
  return { ...access, path };
}

/** The record that represents a blob with uncommitted blocks only. Recorded from Azure: its ETag is
 *  that of the year 1601. */
function uncommittedBlob({ touched, lease }: UploadRecord): BlobRecord {
  const fields = { etag: fileTimeStart, created: touched, type: "BlockBlob", lease } as const;
  return { ...fields, content: emptyContent, headers: {}, metadata: [] };
}

/** A detail of the fault for an existing path: its type. Hadoop treats an existing directory that
 *  it wants to create as a success. */
function existingType(target: object, { hierarchicalNamespace }: Features): FaultDetail {
  if (hierarchicalNamespace !== true) return {};
  return { headers: { "x-ms-existing-resource-type": resourceType(target as BlobRecord) } };
}

export function isHierarchical({ account }: AccountScope): boolean {
  return account.hierarchicalNamespace === true;
}

const softDeleted = { headers: { "x-ms-is-soft-deleted": "true" } };

/** Loads the first existing blob of those that may be returned for a path of the static website,
 *  which everyone may read. */
async function loadPage(
  view: RecordView,
  request: LoadRequest<BlobAddress>,
): Promise<LoadedResource> {
  const account = await loadAccount(view, request);
  const { properties, id } = account;
  const found = { access: undefined, cors: noRules };
  const none = { ...found, scope: ok({ account, missing: true }), target: undefined };
  const site = properties.blob?.staticWebsite;
  const container = await view.get(containers, { account: id, name: request.address.container });
  if (site?.enabled !== true || container === undefined) return none;
  for (const { name, missing } of pageCandidates(request.address.blob, site)) {
    const { key } = isHierarchical({ account })
      ? await findPath(view, container.id, name)
      : { key: { container: container.id, name } };
    const record = await findBlob(view, key, request.address);
    const target = afterRehydration(record, view.now);
    const readable = target?.keySha256 === undefined && target?.tier !== "Archive";
    if (target !== undefined && readable) {
      return { ...found, scope: ok({ account, missing }), target };
    }
  }
  return none;
}

const corsOf = corsRulesFor("blob");

const noRules: readonly CorsRule[] = [];

function accessOf({ policies, publicAccess }: ContainerRecord): Access {
  return publicAccess === undefined ? { policies } : { policies, publicAccess };
}

const service = serviceResource("blob");

const containerResource = namedResource<BlobAddress>({
  service: "blob",
  nameOf: (address) => address.container,
  find: (view, key) => view.get(containers, key),
  table: anyTable(containers),
  missing: "ContainerNotFound",
  present: "ContainerAlreadyExists",
  reserved: "ContainerBeingDeleted",
  leaseKind: "container",
  guard: checkWritable,
});

const blobResource = defineResource<BlobAddress>({
  load: loadBlob,
  table: anyTable(blobs),
  keyOf: (scope) => (scope as ContainerScope).key,
  prepareCreation: createParents,
  completeRecord: (record, creation) =>
    isHierarchical(creation.scope as ContainerScope) ? completeAccess(record, creation) : record,
  missing: "BlobNotFound",
  present: "BlobAlreadyExists",
  describePresent: existingType,
  leaseKind: "blob",
  guard: checkBlobPolicy,
  contentScope: async (view, request, named) => {
    const { id } = await loadAccount(view, request);
    const key = { account: id, name: request.address.container };
    const name = named ?? (await view.get(containers, key))?.defaultEncryptionScope;
    return name === undefined ? undefined : { account: id, name };
  },
  eventsOf: blobEvents,
});

const page = defineResource<BlobAddress>({
  load: loadPage,
  table: undefined,
  keyOf: () => undefined,
  missing: "WebContentNotFound",
  present: "BlobAlreadyExists",
  leaseKind: "blob",
});

export const resources = { service, container: containerResource, blob: blobResource, page };

const rootContainer = "$root";

/** Replaces backslashes by slashes. Recorded from Azure: the Blob and the Data Lake API both treat
 *  a backslash as a slash, even if it was escaped. */
export function withSlashes(path: string): string {
  return path.includes("\\") ? path.replaceAll("\\", "/") : path;
}

/** Finds what a URL path of the Blob API addresses: `/`, `/container?restype=container`,
 *  `/container/blob`, or `/blob` in the root container. */
export function identify(asWritten: string, query: QueryReader): Result<BlobAddress> {
  const times = parseTimes(query);
  if (!times.ok) return times;
  const path = withSlashes(asWritten);
  const { snapshot, versionId } = times.value;
  if (path === "") {
    return ok({ resource: "service", container: "", blob: "", snapshot, versionId });
  }
  const slash = path.indexOf("/");
  const first = slash < 0 ? path : path.slice(0, slash);
  const rest = slash < 0 ? "" : path.slice(slash + 1);
  if (rest === "" && namesContainer(query)) {
    const named = checkContainerName(first);
    if (!named.ok) return named;
    return ok({ resource: "container", container: first, blob: "", snapshot, versionId });
  }
  // Recorded from Azure: a URL of a container has no slash at its end.
  if (rest === "" && slash >= 0) return fail("InvalidUri");
  const container = rest === "" ? rootContainer : first;
  const blob = rest === "" ? first : rest;
  const named = checkContainerName(container);
  if (!named.ok) return named;
  const valid = checkBlobName(blob);
  return valid.ok ? ok({ resource: "blob", container, blob, snapshot, versionId }) : valid;
}

/** Whether a path of one segment is a container. Get Account Information on a container has
 *  `restype=account`. */
function namesContainer(query: QueryReader): boolean {
  const type = query.get("restype")?.toLowerCase();
  return type === "container" || type === "account";
}

export function signedName({ container, blob }: BlobAddress): SignedName {
  return { name: container || undefined, path: blob || undefined };
}

const noTimes = ok({ snapshot: undefined, versionId: undefined });

function parseTimes(query: QueryReader) {
  const isCurrent = query.get("snapshot") === undefined && query.get("versionid") === undefined;
  if (isCurrent) return noTimes;
  const snapshot = snapshotTime(query, "snapshot");
  if (!snapshot.ok) return snapshot;
  const versionId = snapshotTime(query, "versionid");
  if (!versionId.ok) return versionId;
  if (snapshot.value !== undefined && versionId.value !== undefined) {
    return invalidQuery("versionid", query.get("versionid") ?? "");
  }
  return ok({ snapshot: snapshot.value, versionId: versionId.value });
}
