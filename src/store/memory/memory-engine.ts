import type { Ticks } from "../../base/ticks.ts";
import type { Engine, EngineBatch, EngineReader, EngineView, VersionedEntry } from "../engine.ts";
import { Edit, emptyTree, treeDelete, treeGet, treePut, treeScan } from "../tree.ts";
import type { TreeNode } from "../tree.ts";

interface State {
  readonly root: TreeNode<VersionedEntry>;
  readonly sequence: number;
  readonly ticks: Ticks;
  readonly epoch: Ticks;
  readonly turn: number;
}

/** Keeps everything in this process, in bytes of its own: those it is given lie in shared slabs. A
 *  snapshot is a pointer to the root of its time. */
export function memoryEngine(): Engine {
  let state: State = { root: emptyTree(), sequence: 0, ticks: 0n, epoch: 0n, turn: 0 };
  return {
    open: () => viewOf(state),
    commit(decide) {
      const batch = decide(viewOf(state));
      if (batch !== undefined) state = apply(state, batch);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

function viewOf(state: State): EngineView & EngineReader {
  return {
    sequence: state.sequence,
    ticks: state.ticks,
    clockOffset: state.epoch,
    priorityOwner: state.turn,
    get: (_key, text) => treeGet(state.root, text),
    scan: (bounds, countMax) => treeScan(state.root, bounds, countMax),
    close: () => undefined,
  };
}

function apply(state: State, batch: EngineBatch): State {
  const edit = new Edit();
  let root = state.root;
  for (const { key, text, value, revision } of batch.writes) {
    root =
      value === undefined
        ? treeDelete(root, text, edit)
        : treePut(root, text, { key: key.slice(), text, value: value.slice(), revision }, edit);
  }
  const { sequence, ticks, epoch = state.epoch, turn = state.turn } = batch;
  return { root, sequence, ticks, epoch, turn };
}
