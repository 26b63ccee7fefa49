import type { GuardContext } from "../../operation/service.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import type { Tags } from "../../protocol/tags.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobPolicy } from "../blob-policy.ts";
import type { Protection } from "../protection/protection.ts";
import type { BlobRecord } from "../records.ts";
import type { BlobAddress } from "../resources.ts";
import { hasFolderMark } from "./directory-record.ts";

const passed = ok(undefined);

interface PathInput {
  readonly metadata?: Metadata | undefined;
  readonly tags?: Tags | undefined;
  readonly protection?: Protection | undefined;
}

/** Rejects what hierarchical accounts do not support in operations that they otherwise have: tags,
 *  immutability, and most operations on directories. */
export function checkPath(
  { content, directories }: BlobPolicy,
  { input, target }: GuardContext<BlobAddress>,
): Result<void> {
  const { tags, protection, metadata = [] } = input as PathInput;
  const isProtected = (protection?.immutability ?? protection?.legalHold) !== undefined;
  if (tags !== undefined || isProtected) {
    return fail("FeatureNotYetSupportedForHierarchicalNamespaceAccounts");
  }
  const record = target as BlobRecord | undefined;
  if (record?.directory === undefined || directories === undefined) return passed;
  if (directories === "recreate" && hasFolderMark(metadata)) return passed;
  return fail(content === "replace" ? "PathConflict" : "OperationNotSupportedOnDirectory");
}
