import type { Runtime } from "../../operation/execute.ts";
import { childrenOf } from "../directory/children.ts";
import type { NodeRecord } from "../records.ts";
import { done, refuse, type FileResult } from "./file-result.ts";
import { readSnapshot, type FilePlace } from "./file-transaction.ts";

export interface Listed {
  readonly folded: string;
  readonly node: NodeRecord;
}

export interface ListWish {
  readonly place: FilePlace;
  /** Folded; the first name to show. */
  readonly from: string;
  readonly limit: number;
}

export interface Page {
  readonly entries: readonly Listed[];
  readonly directory: NodeRecord;
}

/** Names in a directory, in a fixed order, so that a listing that goes on repeats nothing. */
export function listDirectory(runtime: Runtime, wish: ListWish): Promise<FileResult<Page>> {
  const { place, from, limit } = wish;
  return readSnapshot(runtime, async (work) => {
    const found = await work.find(place);
    if (found === undefined) return refuse("file-closed");
    const tree = { share: found.share.id, epoch: place.snapshot?.epoch };
    const wanted = { directory: found.node.id, prefix: "", from, limit };
    const entries = await childrenOf(work.view, tree, wanted);
    return done({ entries, directory: found.node });
  });
}
