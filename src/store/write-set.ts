import { decodeCounter, encodeCounter } from "./counter.ts";
import type { ScanBounds } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Value } from "./store.ts";
import { Edit, emptyTree, treePut, treeScan } from "./tree.ts";
import type { TreeNode } from "./tree.ts";

/** A buffered change of one key. */
export type Change =
  | { readonly kind: "put"; readonly key: Key; readonly text: KeyText; readonly value: Value }
  | { readonly kind: "delete"; readonly key: Key; readonly text: KeyText }
  | { readonly kind: "add"; readonly key: Key; readonly text: KeyText; readonly delta: bigint };

/** Combines two changes of a key into one with the same effect. */
export function combine(earlier: Change | undefined, later: Change): Change {
  if (earlier === undefined || later.kind !== "add") return later;
  if (earlier.kind === "add") return { ...later, delta: earlier.delta + later.delta };
  const value = changedValue(undefined, earlier);
  const { key, text } = later;
  return { kind: "put", key, text, value: encodeCounter(decodeCounter(value) + later.delta) };
}

/** The value of a key after a change; undefined if it is deleted. */
export function changedValue(before: Value | undefined, change: Change): Value | undefined {
  if (change.kind === "put") return change.value;
  if (change.kind === "delete") return undefined;
  return encodeCounter(decodeCounter(before) + change.delta);
}

/** The buffered changes of an attempt or a batch, at most one per key. Most are only looked up by
 *  key, so their order is computed on the first range access and maintained from then on. */
export class WriteSet<C extends Change> {
  readonly #byText = new Map<KeyText, C>();
  #ordered: TreeNode<C> | undefined;
  #edit: Edit | undefined;

  get isEmpty(): boolean {
    return this.#byText.size === 0;
  }

  get count(): number {
    return this.#byText.size;
  }

  get(text: KeyText): C | undefined {
    return this.#byText.get(text);
  }

  set(change: C): void {
    this.#byText.set(change.text, change);
    if (this.#ordered !== undefined) this.#ordered = this.#withChange(this.#ordered, change);
  }

  /** The changes in a range, in the direction of the bounds. */
  scan(bounds: ScanBounds): C[] {
    return this.isEmpty ? [] : treeScan(this.#inOrder(), bounds, Infinity);
  }

  intersects(bounds: ScanBounds): boolean {
    return !this.isEmpty && treeScan(this.#inOrder(), bounds, 1).length > 0;
  }

  clear(): void {
    this.#byText.clear();
    this.#ordered = undefined;
  }

  /** All changes, in key order. */
  all(): C[] {
    return this.scan({ start: "", end: "\u0100", reverse: false });
  }

  inInsertionOrder(): Iterable<C> {
    return this.#byText.values();
  }

  #inOrder(): TreeNode<C> {
    if (this.#ordered === undefined) {
      let root = emptyTree<C>();
      for (const change of this.#byText.values()) root = this.#withChange(root, change);
      this.#ordered = root;
    }
    return this.#ordered;
  }

  #withChange(root: TreeNode<C>, change: C): TreeNode<C> {
    this.#edit ??= new Edit();
    return treePut(root, change.text, change, this.#edit);
  }
}
