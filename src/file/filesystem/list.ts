import type { Runtime } from "../../operation/work.ts";
import { childrenOf, type Child } from "../directory/children.ts";
import type { NodeRecord } from "../records.ts";
import { executeAtOnce } from "./execute-operation.ts";
import type { FileResult } from "./file-result.ts";
import { handleOperation, type HandleRequest } from "./handle-operation.ts";

interface DirectoryListRequest extends HandleRequest {
  /** Case-folded name of the first entry to list; empty for the start. */
  readonly from: string;
  readonly limit: number;
}

interface DirectoryPage {
  readonly entries: readonly Child[];
  readonly directory: NodeRecord;
}

/** Lists a directory in the order of the case-folded names, so that a continued listing repeats no
 *  name. */
const listOperation = handleOperation<DirectoryListRequest, DirectoryPage, readonly Child[]>({
  name: "list directory",
  effect: "reads",
  event: "none",
  onSnapshot: "allowed",
  handle: "unchecked",
  lease: "checked-at-open",
  fileAccess: "none",
  reads: (view, { request: { reference, from, limit }, loaded: { share, node } }) => {
    const tree = { share: share.id, epoch: reference.snapshot?.epoch };
    return childrenOf(view, tree, { directory: node.id, prefix: "", from, limit });
  },
  decide: ({ loaded, readResult: entries }) => ({ value: { entries, directory: loaded.node } }),
});

export function listDirectory(
  runtime: Runtime,
  request: DirectoryListRequest,
): Promise<FileResult<DirectoryPage>> {
  return executeAtOnce(runtime, listOperation, request);
}
