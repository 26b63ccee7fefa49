import { splitPath } from "./paths.ts";
import type { GuardContext } from "../../operation/service.ts";
import type { Metadata } from "../../protocol/metadata.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobPolicy } from "../blob-policy.ts";
import type { Protection } from "../protection/protection.ts";
import type { BlobRecord } from "../records.ts";
import type { BlobAddress } from "../resources.ts";
import { hasFolderMark } from "./directory-record.ts";

const passed = ok(undefined);

interface PathInput {
  readonly metadata?: Metadata | undefined;
  readonly protection?: Protection | undefined;
}

/** Rejects what hierarchical accounts do not support in operations that they otherwise have:
 *  immutability, most operations on directories, and new paths that no path may have. */
export function checkPath(
  { content, directories }: BlobPolicy,
  { operation, address, input, target }: GuardContext<BlobAddress>,
): Result<void> {
  const { protection, metadata = [] } = input as PathInput;
  const isProtected = (protection?.immutability ?? protection?.legalHold) !== undefined;
  if (isProtected) return fail("FeatureNotYetSupportedForHierarchicalNamespaceAccounts");
  const creates = target === undefined && operation.effect === "writes";
  if (creates) return checkNewPath(address.blob);
  const record = target as BlobRecord | undefined;
  if (record?.directory === undefined || directories === undefined) return passed;
  if (directories === "recreate" && hasFolderMark(metadata)) return passed;
  return fail(content === "replace" ? "PathConflict" : "OperationNotSupportedOnDirectory");
}

// Limits of the service for new paths; a rename of a directory may exceed them below it.
const pathSegmentsMax = 60;
const segmentUnitsMax = 255;

/** Whether a path may be created. The names `.` and `..` are no names of files: clients and proxies
 *  would resolve them, so that other paths would be addressed. */
export function checkNewPath(path: string): Result<void> {
  const names = splitPath(path);
  if (names.length > pathSegmentsMax) return fail("PathIsTooDeep");
  const isNamed = names.every((name) => name.length <= segmentUnitsMax && !/^\.\.?$/.test(name));
  return isNamed ? passed : fail("InvalidUri");
}
