import { put, type Effect } from "../../operation/effects.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { CreationContext, PreparedScope } from "../../operation/service.ts";
import { blobs, type BlobKey, type BlobRecord } from "../records.ts";
import type { ContainerScope } from "../resources.ts";
import { newDirectory } from "./directory-record.ts";
import { inheritedAccess } from "./inherited-access.ts";

type Creation = Pick<CreationContext, "newId" | "newETag" | "now" | "callerId">;

/** Returns the effects that create the missing parent directories of a new path, and the scope with
 *  these directories as ancestors. Undefined if no parent is missing, which is always so on flat
 *  accounts. */
export function createParents(
  loadedScope: object,
  { newId, newETag, now, callerId }: Creation,
): Result<PreparedScope> | undefined {
  const scope = loadedScope as ContainerScope;
  const { missingParents, hasFileAsParent } = scope;
  if (missingParents.length === 0) return undefined;
  // The first missing name exists, but as a file.
  if (hasFileAsParent) return fail("PathConflict");
  const ancestors: BlobRecord[] = [...scope.ancestors];
  const effects: Effect[] = [];
  let parentId = ancestors.at(-1)?.directory ?? scope.container.id;
  let posix = ancestors.at(-1)?.posix;
  for (const name of missingParents) {
    const id = newId();
    posix = inheritedAccess("directory", posix, callerId);
    const record = newDirectory({ id, etag: newETag, now, posix });
    // On hierarchical accounts the `container` of a key is the id of the parent directory.
    effects.push(put(blobs, { container: parentId, name }, record));
    ancestors.push(record);
    parentId = id;
  }
  const key: BlobKey = { container: parentId, name: scope.key.name };
  return ok({ scope: { ...scope, key, ancestors, missingParents: [] }, effects });
}
