import { decodeCounter, encodeCounter } from "./counter.ts";
import type { ScanBounds } from "./engine.ts";
import type { KeyText } from "./key-text.ts";
import type { Key, Value } from "./store.ts";
import { Edit, emptyTree, treePut, treeScan } from "./tree.ts";
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

/** At most one for each key. Most are only looked up by key: their order is made when somebody
 *  first asks for a range, and kept from then on. */
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
    if (this.#ordered !== undefined) this.#ordered = this.#withOne(this.#ordered, change);
  }

  /** In key order, or backwards. */
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

  /** In key order. */
  all(): C[] {
    return this.scan({ start: "", end: "\u0100", reverse: false });
  }

  inInsertionOrder(): Iterable<C> {
    return this.#byText.values();
  }

  #inOrder(): TreeNode<C> {
    if (this.#ordered === undefined) {
      let root = emptyTree<C>();
      for (const change of this.#byText.values()) root = this.#withOne(root, change);
      this.#ordered = root;
    }
    return this.#ordered;
  }

  #withOne(root: TreeNode<C>, change: C): TreeNode<C> {
    this.#edit ??= new Edit();
    return treePut(root, change.text, change, this.#edit);
  }
}
