import { runOnce, type Attempt, type Runtime } from "../../operation/work.ts";
import { rootId } from "../records.ts";
import { nodeById } from "../share-tree.ts";

/** A directory on the path to a file; the root has the name "". */
export interface Ancestor {
  readonly id: bigint;
  readonly name: string;
}

/** More levels than a path can have. Ends the loop if records form a cycle. */
const depthMax = 256;

/** The directories from the root down to a directory, inclusive. If one of them was deleted
 *  meanwhile, the list starts below it. */
export function ancestorsOf(
  runtime: Runtime,
  share: bigint,
  directory: bigint,
): Promise<readonly Ancestor[]> {
  const find = async ({ records: view }: Attempt) => {
    const steps: Ancestor[] = [];
    let at = directory;
    for (let depth = 0; at !== rootId && depth < depthMax; depth += 1) {
      const node = await nodeById(view, share, at);
      if (node === undefined) return steps;
      steps.unshift({ id: at, name: node.name });
      at = node.parent;
    }
    steps.unshift({ id: rootId, name: "" });
    return steps;
  };
  return runOnce(runtime, { effect: "reads", attempt: find });
}
