import { maximalAccess } from "../../file/filesystem/open.ts";
import type { FileReference } from "../../file/filesystem/file-reference.ts";
import type { NodeRecord } from "../../file/records.ts";
import { Status } from "../status.ts";
import type { CreateRequest } from "../wire/create.ts";
import { ContextName, type CreateContext } from "../wire/create-contexts.ts";
import { Writer } from "../wire/writer.ts";
import { indexNumberOf } from "./facts.ts";

/** The contexts of a CREATE response that depend only on the file: maximal access and on-disk
 *  id. */
export function factContexts(
  create: CreateRequest,
  reference: FileReference,
  node: NodeRecord,
): readonly CreateContext[] {
  const contexts: CreateContext[] = [];
  for (const { name } of create.contexts) {
    if (name === ContextName.maximalAccess) {
      const data = new Writer(8).u32(Status.success).u32(maximalAccess(node)).finish();
      contexts.push({ name, data });
    } else if (name === ContextName.diskId) {
      const index = indexNumberOf(node, reference.share.id);
      const data = new Writer(32).u64(index).u64(reference.share.id).zeros(16).finish();
      contexts.push({ name, data });
    }
  }
  return contexts;
}
