import { decodeCounter, encodeCounter } from "./counter.ts";
import type { ScanBounds } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Value } from "./store.ts";
import { Edit, emptyTree, treeGet, treePut, treeScan } from "./tree.ts";
import type { TreeNode } from "./tree.ts";

/** What happens to a key at commit. */
export type Change =
  | { readonly kind: "put"; readonly key: Key; readonly text: KeyText; readonly value: Value }
  | { readonly kind: "delete"; readonly key: Key; readonly text: KeyText }
  | { readonly kind: "add"; readonly key: Key; readonly text: KeyText; readonly delta: bigint };

/** The one change that does what `earlier` and then `later` do. */
export function combine(earlier: Change | undefined, later: Change): Change {
  if (earlier === undefined || later.kind !== "add") return later;
  if (earlier.kind === "add") return { ...later, delta: earlier.delta + later.delta };
  const value = changedValue(undefined, earlier);
  const { key, text } = later;
  return { kind: "put", key, text, value: encodeCounter(decodeCounter(value) + later.delta) };
}

export function changedValue(before: Value | undefined, change: Change): Value | undefined {
  if (change.kind === "put") return change.value;
  if (change.kind === "delete") return undefined;
  return encodeCounter(decodeCounter(before) + change.delta);
}

/** Changes in key order, at most one for each key. */
export class Changes<C extends Change> {
  #root: TreeNode<C> = emptyTree();
  readonly #edit = new Edit();
  #isEmpty = true;
  #setCount = 0;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** At most so many keys are changed. */
  get countMax(): number {
    return this.#setCount;
  }

  get(text: KeyText): C | undefined {
    return this.#isEmpty ? undefined : treeGet(this.#root, text);
  }

  set(change: C): void {
    this.#isEmpty = false;
    this.#setCount += 1;
    this.#root = treePut(this.#root, change.text, change, this.#edit);
  }

  scan(bounds: ScanBounds): C[] {
    return this.#isEmpty ? [] : treeScan(this.#root, bounds, Infinity);
  }

  touches(bounds: ScanBounds): boolean {
    return !this.#isEmpty && treeScan(this.#root, bounds, 1).length > 0;
  }

  clear(): void {
    this.#isEmpty = true;
    this.#root = emptyTree();
  }

  all(): C[] {
    return this.scan({ start: "", end: "\u0100", reverse: false });
  }
}
