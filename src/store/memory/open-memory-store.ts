import type { Store } from "../store.ts";
import {
  setClockOffset,
  TransactionalStore,
  type TransactionalStoreOptions,
} from "../transactional-store.ts";
import type {
  Engine,
  EngineBatch,
  EngineReader,
  EngineView,
  VersionedEntry,
  StateFacts,
} from "../engine.ts";
import { Edit, emptyTree, treeDelete, treeGet, treePut, treeScan, type TreeNode } from "../tree.ts";

/** The store in memory, for tests and for servers without a disk (`data/storage-backends.ts`). */

export function openMemoryStore(options: Omit<TransactionalStoreOptions, "engine">): Store {
  const engine = memoryEngine();
  // Needs no `await`: the memory engine has committed when the call returns.
  void setClockOffset(engine, options.clock, true);
  return new TransactionalStore({ ...options, engine });
}

interface State extends StateFacts {
  readonly root: TreeNode<VersionedEntry>;
}

/** An engine in memory. It copies the bytes it stores, because they may be parts of larger
 *  buffers. */
export function memoryEngine(): Engine {
  let state: State = {
    root: emptyTree(),
    sequence: 0,
    ticks: 0n,
    clockOffset: 0n,
    priorityOwner: 0,
  };
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
    clockOffset: state.clockOffset,
    priorityOwner: state.priorityOwner,
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
  const {
    sequence,
    ticks,
    clockOffset = state.clockOffset,
    priorityOwner = state.priorityOwner,
  } = batch;
  return { root, sequence, ticks, clockOffset, priorityOwner };
}
