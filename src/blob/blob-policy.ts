import { formatIso } from "../base/dates.ts";
import type { GuardContext } from "../operation/service.ts";
import type { Encryption } from "../protocol/encryption.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import { compareKeys } from "./shared/blob-encryption.ts";
import { checkProtection } from "./protection/protection.ts";
import type { BlobRecord } from "./records.ts";
import type { BlobAddress } from "./resources.ts";
import { checkPath } from "./tree/check-path.ts";
import { archive } from "./tier/rehydration.ts";

/** Rules that every operation on a blob declares, besides target, lease and conditions.
 *  `checkBlobPolicy` enforces them. */
export interface BlobPolicy {
  /** What the operation does with the blob. `read`: returns bytes, so it fails on an archived blob.
   *  `change`: modifies the blob. `replace`: writes a new blob of the same name; with versioning
   *  the old one stays as a version, even under an immutability policy. `remove`: deletes the blob.
   *  `none`: returns properties, or changes only what immutability policies do not protect. */
  readonly content: "read" | "change" | "replace" | "remove" | "none";
  /** Which generations of a blob the address may name: only the blob itself (`current`), also its
   *  versions, or also its snapshots (`any`). */
  readonly generations: "current" | "versions" | "any";
  /** Whether the operation is rejected while an asynchronous copy to the blob is pending. */
  readonly pendingCopy: "reject" | "allow";
  /** `match`: the request must have the customer-provided key with which the blob is encrypted. */
  readonly clientKey: "match" | "none";
  /** Set for Incremental Copy Blob alone: no other operation may write the blobs that it creates;
   *  clients read their snapshots. */
  readonly incrementalCopy?: true;
  /** `reject`: the operation fails on directories of hierarchical accounts. */
  readonly directories?: "reject" | "recreate";
}

type BlobContext = GuardContext<BlobAddress>;

const passed = ok(undefined);

/** Checks the policy of an operation. Runs after the checks of lease and conditions, in the same
 *  transaction. */
export function checkBlobPolicy(context: BlobContext): Result<void> {
  const policy = context.operation.policy as BlobPolicy;
  const addressed = checkGeneration(policy, context.address);
  if (!addressed.ok) return addressed;
  if (context.features.hierarchicalNamespace === true) {
    const possible = checkPath(policy, context);
    if (!possible.ok) return possible;
  }
  if (context.target === undefined) return addressed;
  const target = context.target as BlobRecord;
  const copied = checkCopies(policy, target);
  if (!copied.ok) return copied;
  const mutable = checkImmutability(policy, context, target);
  if (!mutable.ok) return mutable;
  const decrypted = checkClientKey(policy, context.input, target);
  return decrypted.ok ? checkArchived(policy, target) : decrypted;
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

/** The parameter must have the name `encryption` (`protocol/encryption.ts`). */
function checkClientKey({ clientKey }: BlobPolicy, input: object, target: BlobRecord) {
  if (clientKey === "none") return passed;
  const { encryption } = input as { readonly encryption: Encryption };
  return compareKeys(target.keySha256, encryption.clientKey?.sha256);
}

function checkArchived({ content }: BlobPolicy, { tier, rehydration }: BlobRecord): Result<void> {
  if (tier !== archive || content !== "read") return passed;
  return fail(rehydration === undefined ? "BlobArchived" : "BlobBeingRehydrated");
}
