import type { Runtime } from "../../operation/execute.ts";
import { childrenOf, type Child } from "../directory/children.ts";
import type { NodeRecord } from "../records.ts";
import { executeAtOnce } from "./execute-operation.ts";
import type { FileResult } from "./file-result.ts";
import { handleOperation, type HandleRequest } from "./handle-operation.ts";

export interface DirectoryListRequest extends HandleRequest {
  /** Folded; the first name to list. */
  readonly from: string;
  readonly limit: number;
}

export interface DirectoryPage {
  readonly entries: readonly Child[];
  readonly directory: NodeRecord;
}

/** Names in a directory, in a fixed order, so that a continued listing repeats none. */
export const listOperation = handleOperation<DirectoryListRequest, DirectoryPage, readonly Child[]>(
  {
    name: "list directory",
    effect: "reads",
    onSnapshot: "allowed",
    handle: "unchecked",
    lease: "checked-at-open",
    fileAccess: "none",
    reads: (view, { request: { place, from, limit }, loaded: { share, node } }) => {
      const tree = { share: share.id, epoch: place.snapshot?.epoch };
      return childrenOf(view, tree, { directory: node.id, prefix: "", from, limit });
    },
    decide: ({ loaded, readResult: entries }) => ({ value: { entries, directory: loaded.node } }),
  },
);

export function listDirectory(
  runtime: Runtime,
  request: DirectoryListRequest,
): Promise<FileResult<DirectoryPage>> {
  return executeAtOnce(runtime, listOperation, request);
}
