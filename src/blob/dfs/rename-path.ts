import { parseConditions, checkWrite, type Conditions } from "../../protocol/conditions.ts";
import { isWithin } from "../../namespace/resolve.ts";
import { noBody } from "../../operation/operation.ts";
import type { CopySource } from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import { directoryChange } from "../../protocol/authorise-acl.ts";
import { checkLease, isLocked } from "../../protocol/lease.ts";
import { parseLeaseId } from "../../protocol/lease-request.ts";
import { pathRenameSource } from "../../protocol/named-resource.ts";
import type { Param } from "../../protocol/params.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import { checkProtection } from "../protection/protection.ts";
import { uploads, type BlobRecord, type UploadRecord } from "../records.ts";
import { operation, resources, type BlobAddress, type ContainerScope } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { withFolderMark } from "../tree/directory-record.ts";
import { rootName } from "../tree/find-path.ts";
import { movePath, reclaimBelow } from "../tree/move-path.ts";
import { isReplaceable } from "./delete-path.ts";
import { entryName, properties, transactionId } from "./params.ts";

const sourceConditions: Param<Conditions> = {
  sources: [
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
  ],
  parse: (reader) => parseConditions(reader, "source"),
};

const sourceLease: Param<string | undefined> = {
  sources: ["x-ms-source-lease-id"],
  parse: (reader) => parseLeaseId(reader, "x-ms-source-lease-id"),
};

/** Moves a file, or a directory with everything below it, in one commit of constant size. ETag and
 *  Last-Modified stay the same (recorded).
 *  learn.microsoft.com/rest/api/storageservices/datalakestoragegen2/path/create */
export const renamePath = operation({
  name: "Rename Path",
  ids: [],
  route: { method: "PUT", resource: "blob", headers: { "x-ms-rename-source": true } },
  since: "2018-11-09",
  params: {
    entryName,
    properties,
    sourceConditions,
    sourceLease,
    transactionId,
  },
  body: noBody,
  namedResources: [pathRenameSource],
  permission: { letters: "cwm", resourceType: "o", posix: directoryChange, overwrite: true },
  target: "optional",
  conditions: "create",
  lease: "match-if-leased",
  policy: { content: "replace", generations: "current", pendingCopy: "reject", clientKey: "none" },
  etag: "keep",
  effect: "writes",
  success: { status: 201, headers: [] },
  reads: async (view, { scope, target, source }) => ({
    source: await loadSource(view, source),
    replacedUpload: await view.get(uploads, blobKey({ scope })),
    isFree: target === undefined || (await isReplaceable(view, target)),
  }),
  decide: (context) => {
    const { scope, target, input, now, readResult } = context;
    const { source: found, replacedUpload, isFree } = readResult;
    if (!found.ok) return found;
    const source = found.value;
    const { record } = source;
    const checked = checkSource(source, input, now);
    if (!checked.ok) return checked;
    const placed = checkDestination({ scope, target, source, isFree, now });
    if (!placed.ok) return placed;
    const lease = target !== undefined && isLocked(target.lease, now) ? target.lease : record.lease;
    const { properties: given = record.metadata } = input;
    const metadata = record.directory === undefined ? given : withFolderMark(given);
    const moved = movePath({
      from: source.scope.key,
      to: scope.key,
      record: { ...record, lease, metadata, transactionId: input.transactionId },
      upload: source.upload,
      replacedUpload,
    });
    return {
      etag: record.etag,
      effects: [...moved, ...(target === undefined ? [] : reclaimBelow(target))],
    };
  },
});

/** The path that is renamed. */
interface RenameSource {
  readonly scope: ContainerScope;
  readonly record: BlobRecord;
  readonly upload: UploadRecord | undefined;
}

async function loadSource(
  view: RecordView,
  source: CopySource | undefined,
): Promise<Result<RenameSource>> {
  if (source?.kind !== "same-service") return fail("InvalidSourceUri");
  const address = source.address as BlobAddress;
  if (address.resource !== "blob") return fail("InvalidSourceUri");
  const loaded = await resources.blob.load(view, { account: source.account, address });
  const allowed = source.authorise(loaded.access);
  if (!allowed.ok) return allowed;
  const record = loaded.target as BlobRecord | undefined;
  if (!loaded.scope.ok || record === undefined) return fail("SourcePathNotFound");
  const scope = loaded.scope.value as ContainerScope;
  return ok({ scope, record, upload: await view.get(uploads, blobKey({ scope })) });
}

/** What the request demands of the source. */
interface SourceRequirements {
  readonly sourceConditions: Conditions;
  readonly sourceLease: string | undefined;
}

function checkSource(
  { scope, record }: RenameSource,
  requirements: SourceRequirements,
  now: Ticks,
): Result<undefined> {
  if (scope.key.name === rootName) return fail("InvalidRenameSourcePath");
  const { lease, etag } = record;
  const leased = checkLease(lease, requirements.sourceLease, "match-if-leased", "blob", now);
  if (!leased.ok) return leased;
  const failedCode = "SourceConditionNotMet";
  const met = checkWrite(requirements.sourceConditions, { etag }, { creates: false, failedCode });
  if (!met.ok) return met;
  const unprotected = checkProtection(record, now);
  return unprotected.ok ? ok(undefined) : unprotected;
}

/** Where a path is moved to. */
interface Destination {
  readonly scope: ContainerScope;
  readonly target: BlobRecord | undefined;
  readonly source: RenameSource;
  /** Whether the destination does not exist, or is a file or an empty directory. */
  readonly isFree: boolean;
  readonly now: Ticks;
}

function checkDestination(destination: Destination): Result<undefined> {
  const { scope, target, source, isFree, now } = destination;
  const { record } = source;
  if (scope.isParentFile) return fail("PathConflict");
  if (scope.missingParents.length > 0) return fail("RenameDestinationParentPathNotFound");
  const { container, name } = scope.key;
  const isSame = source.scope.key.container === container && source.scope.key.name === name;
  const isBelow = isWithin({ directoryId }, record, scope.ancestors);
  if (isSame || isBelow || name === rootName) return fail("InvalidRenameSourcePath");
  if (target === undefined) return ok(undefined);
  const isOfKind = (record.directory === undefined) === (target.directory === undefined);
  if (!isOfKind) return fail("InvalidSourceOrDestinationResourceType");
  if (!isFree) return fail("PathAlreadyExists");
  const unprotected = checkProtection(target, now);
  return unprotected.ok ? ok(undefined) : unprotected;
}

function directoryId({ directory }: BlobRecord): bigint | undefined {
  return directory;
}
