import { fail, ok, type Result } from "../../protocol/result.ts";
import type { CopySource } from "../../operation/source.ts";
import type { RecordView } from "../../operation/view.ts";
import type { NodeRecord } from "../records.ts";
import { resources, type FileAddress, type NodeScope } from "../resources.ts";

export interface OwnSource {
  readonly scope: NodeScope;
  readonly node: NodeRecord;
}

/** Loads a source in this service; undefined for a source elsewhere. */
export async function loadOwnSource(
  view: RecordView,
  source: CopySource | undefined,
  { keepsTrailingDots = false }: { readonly keepsTrailingDots: boolean | undefined },
): Promise<Result<OwnSource> | undefined> {
  if (source?.kind !== "own") return undefined;
  const address = source.address as FileAddress;
  if (address.resource === "service") return fail("InvalidUri");
  const where = { account: source.account, address, input: { keepsTrailingDots } };
  const located = await resources.entry.load(view, where);
  const allowed = source.authorise(located.access);
  if (!allowed.ok) return allowed;
  if (!located.scope.ok) {
    // A missing share or directory means that the source does not exist.
    const { code } = located.scope.fault;
    return code === "ParentNotFound" ? fail("ResourceNotFound") : located.scope;
  }
  const node = located.target as NodeRecord | undefined;
  if (node === undefined) return fail("ResourceNotFound");
  return ok({ scope: located.scope.value as NodeScope, node });
}
