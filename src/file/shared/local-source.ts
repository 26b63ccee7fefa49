import { fail, ok, type Result } from "../../protocol/result.ts";
import type { CopySource } from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import type { NodeRecord } from "../records.ts";
import type { FileAddress } from "../file-address.ts";
import { resources, type NodeScope } from "../resources.ts";

/** The source of a copy or rename in the File service of this server. */
export interface LocalSource {
  readonly scope: NodeScope;
  readonly node: NodeRecord;
}

/** Loads the source of a copy or rename if it is in the File service of this server, after checking
 *  that the caller may read it. Undefined for any other source, or none. `keepsTrailingDots`:
 *  whether the names in the path of the source keep dots at their end. */
export async function loadLocalSource(
  view: RecordView,
  source: CopySource | undefined,
  { keepsTrailingDots = false }: { readonly keepsTrailingDots: boolean | undefined },
): Promise<Result<LocalSource> | undefined> {
  if (source?.kind !== "same-service") return undefined;
  const address = source.address as FileAddress;
  if (address.resource === "service") return fail("InvalidUri");
  const where = { account: source.account, address, input: { keepsTrailingDots } };
  const located = await resources.entry.load(view, where);
  const allowed = source.authorise(located.access);
  if (!allowed.ok) return allowed;
  if (!located.scope.ok) {
    // A missing directory means that the source does not exist. A missing share has its own fault.
    const { code } = located.scope.fault;
    return code === "ParentNotFound" ? fail("ResourceNotFound") : located.scope;
  }
  const node = located.target as NodeRecord | undefined;
  if (node === undefined) return fail("ResourceNotFound");
  return ok({ scope: located.scope.value as NodeScope, node });
}
