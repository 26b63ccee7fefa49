import type { Runtime } from "../../operation/execute.ts";
import { rootId } from "../records.ts";
import { nodeById } from "../share-tree.ts";
import { readSnapshot } from "./background-transaction.ts";

export interface TrailStep {
  readonly id: bigint;
  readonly name: string;
}

const depthMax = 256;

/** The directories from the root down to this one, included. */
export function ancestorsOf(
  runtime: Runtime,
  share: bigint,
  directory: bigint,
): Promise<readonly TrailStep[]> {
  return readSnapshot(runtime, async (view) => {
    const steps: TrailStep[] = [];
    let at = directory;
    for (let depth = 0; at !== rootId && depth < depthMax; depth += 1) {
      const node = await nodeById(view, share, at);
      if (node === undefined) return steps;
      steps.unshift({ id: at, name: node.name });
      at = node.parent;
    }
    steps.unshift({ id: rootId, name: "" });
    return steps;
  });
}
