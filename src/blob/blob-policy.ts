import { formatIso } from "../base/dates.ts";
import { inputWithRole } from "../operation/operation.ts";
import type { GuardContext } from "../operation/service.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { checkScope, compareKeys, compareScopes } from "./shared/create-blob.ts";
import { checkProtection } from "./protection/protection.ts";
import type { BlobApi } from "./events.ts";
import type { BlobRecord } from "./records.ts";
import type { BlobAddress, ContainerScope } from "./resources.ts";
import { checkPath } from "./tree/find-path.ts";
import { feedContainer } from "./change-feed/feed-records.ts";
import { archive, checkTierConditions, type TierConditions } from "./tier/rehydration.ts";

/** What every operation on a blob declares about the blob that it concerns (`BlobPolicy`), and the
 *  check of it, which `resources.ts` runs for every request. */

/** Rules that every operation on a blob declares in `policy`, besides target, lease and conditions.
 *  `checkBlobPolicy` enforces them. */
export interface BlobPolicy {
  /** What the operation does with the blob. `read`: returns bytes, so it fails on an archived blob.
   *  `change`: modifies the blob. `replace`: writes a new blob of the same name; with versioning
   *  the old one stays as a version, even under an immutability policy. `remove`: deletes the blob.
   *  `none`: returns properties, or changes only what immutability policies do not protect. */
  readonly content: "read" | "change" | "replace" | "remove" | "none";
  /** Which states of a blob the address may name: only the current one (`current`), also earlier
   *  versions, or also snapshots (`any`). */
  readonly generations: "current" | "versions" | "any";
  /** Whether the operation is rejected while an asynchronous copy has not completed the content. */
  readonly pendingCopy: "reject" | "allow";
  /** `match`: the request must have the customer-provided key with which the blob is encrypted. The
   *  operation then needs a parameter with the role `encryption` (`protocol/encryption.ts`);
   *  without one, each request to an existing blob fails with 500. */
  readonly clientKey: "match" | "none";
  /** The name of a change by the operation in the account's event log, which subscriptions read. */
  readonly event: BlobApi;
  /** Set for Incremental Copy Blob alone: no other operation may write the blobs that it creates;
   *  clients read their snapshots. */
  readonly incrementalCopy?: true;
  /** `reject`: the operation fails on directories of hierarchical accounts. `recreate` (Put Blob):
   *  it may replace a directory by one, if the metadata has the folder mark `hdi_isfolder`. */
  readonly directories?: "reject" | "recreate";
  /** `directory` (reads of the Data Lake API): on flat accounts the operation treats the empty
   *  name, and a name that is only the common prefix of other names, as a directory that exists. */
  readonly prefixes?: "directory";
  /** `exists` (Lease Blob): the operation treats a name with uncommitted blocks only as a blob. */
  readonly uncommitted?: "exists";
}

/** What operations that read a blob, a snapshot or a version have in common: they take these fields
 *  over into their declarations, and override some (Get Blob, for example). */
export const blobRead = {
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "must-exist",
  conditions: "read",
  lease: "match-if-given",
  etag: "keep",
  policy: {
    content: "none",
    generations: "any",
    pendingCopy: "allow",
    clientKey: "match",
    event: "none",
  },
} as const;

/** What operations that change an existing blob have in common: they take these fields over into
 *  their declarations, and override some (Put Page, for example). */
export const blobChange = {
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "write",
  lease: "match-if-leased",
  etag: "renew",
  policy: {
    content: "change",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "match",
    event: "none",
  },
} as const;

type BlobContext = GuardContext<BlobAddress>;

const passed = ok(undefined);

/** Checks a request against the policy that its operation declares. Runs as the guard of blobs
 *  (`resources.ts`), after the checks of lease and conditions, in the same transaction. */
export function checkBlobPolicy(context: BlobContext): Result<void> {
  const writable = checkWritable(context);
  if (!writable.ok) return writable;
  const policy = context.operation.policy as BlobPolicy;
  const addressed = checkGeneration(policy, context.address);
  if (!addressed.ok) return addressed;
  if (context.features.hierarchicalNamespace === true) {
    const possible = checkPath(policy, context);
    if (!possible.ok) return possible;
  }
  const named = checkNamedScope(context);
  if (!named.ok || context.target === undefined) return named;
  const target = context.target as BlobRecord;
  const conditional = checkTier(context.input, target);
  if (!conditional.ok) return conditional;
  const copied = checkCopies(policy, target);
  if (!copied.ok) return copied;
  const mutable = checkImmutability(policy, context, target);
  if (!mutable.ok) return mutable;
  const decrypted = checkClientKey(policy, context, target);
  return decrypted.ok ? checkArchived(policy, target) : decrypted;
}

/** Rejects writes to the container `$blobchangefeed`, which only the server writes. */
export function checkWritable({ operation, address }: BlobContext): Result<void> {
  const isRejected = address.container === feedContainer && operation.effect === "writes";
  return isRejected ? fail("InsufficientAccountPermissions") : passed;
}

function checkTier(input: object, target: BlobRecord): Result<void> {
  if (!("tierConditions" in input)) return passed;
  return checkTierConditions(input.tierConditions as TierConditions, target);
}

function checkGeneration(
  { generations }: BlobPolicy,
  { snapshot, versionId }: BlobAddress,
): Result<void> {
  if (snapshot !== undefined && generations !== "any") {
    return invalidQuery("snapshot", formatIso(snapshot));
  }
  if (versionId !== undefined && generations === "current") {
    return invalidQuery("versionid", formatIso(versionId));
  }
  return passed;
}

function checkCopies(policy: BlobPolicy, target: BlobRecord): Result<void> {
  if (target.copy?.status === "pending" && policy.pendingCopy === "reject") {
    return fail("PendingCopyOperation");
  }
  const isIncrementalTarget = target.incrementalCopy === true && target.snapshot === undefined;
  if (!isIncrementalTarget || policy.incrementalCopy === true) return passed;
  const { content } = policy;
  const isAllowed = content === "none" || content === "remove";
  return isAllowed ? passed : fail("OperationNotAllowedOnIncrementalCopyBlob");
}

function checkImmutability(
  { content }: BlobPolicy,
  { features, now }: BlobContext,
  target: BlobRecord,
): Result<void> {
  if (content === "none" || content === "read") return passed;
  const isPreserved = content === "replace" && features.versioning;
  return isPreserved ? passed : checkProtection(target, now);
}

function checkClientKey(
  { clientKey }: BlobPolicy,
  { input, scope, operation }: BlobContext,
  target: BlobRecord,
): Result<void> {
  if (clientKey === "none") return passed;
  const encryption = inputWithRole(operation, input, "encryption");
  if (encryption === undefined) throw new Error(`${operation.name} has no encryption parameter`);
  const same = compareKeys(target.keySha256, encryption.clientKey?.sha256);
  // A read need not name the encryption scope of the blob: the server has the key of the scope.
  if (!same.ok || target.keySha256 !== undefined || operation.effect === "reads") return same;
  const { container } = scope as ContainerScope;
  return compareScopes(target.encryptionScope, encryption, container);
}

function checkNamedScope({ operation, input, features }: BlobContext): Result<void> {
  const encryption = inputWithRole(operation, input, "encryption");
  return encryption === undefined ? passed : checkScope(encryption.scope, features);
}

function checkArchived({ content }: BlobPolicy, { tier, rehydration }: BlobRecord): Result<void> {
  if (tier !== archive || content !== "read") return passed;
  return fail(rehydration === undefined ? "BlobArchived" : "BlobBeingRehydrated");
}
