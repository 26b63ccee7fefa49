/**
 * An ordered map for the memory engine and for the buffered writes of transactions
 * (`write-set.ts`). It is persistent: a copy-on-write B+tree whose states are roots. Keeping a root
 * keeps a snapshot, at no cost. Keys are strings whose code units are bytes (`KeyText`), so that
 * `<` compares in byte order.
 *
 * An `Edit` may modify the nodes that it created itself, so that a batch of writes copies each path
 * once.
 */
export type TreeNode<V> = Leaf<V> | Branch<V>;

interface Leaf<V> {
  readonly edit: Edit;
  readonly texts: string[];
  readonly values: V[];
  readonly children?: undefined;
}

/** Inner node. `texts[i]` is at most the smallest key in `children[i]`; `texts[0]` is not used. */
interface Branch<V> {
  readonly edit: Edit;
  readonly texts: string[];
  readonly children: TreeNode<V>[];
}

interface TreeBounds {
  readonly start: string;
  readonly end: string;
  readonly reverse: boolean;
}

/** Entries of a node: more cost more to copy, fewer make the tree deeper. */
const entriesMax = 64;

/** Identifies one batch of changes: nodes with the same `Edit` were created by it, so that no other
 *  root contains them and they may be modified. */
export class Edit {
  readonly name = "edit";
}

export function emptyTree<V>(): TreeNode<V> {
  return { edit: new Edit(), texts: [], values: [] };
}

export function treeGet<V>(root: TreeNode<V>, text: string): V | undefined {
  let node = root;
  while (node.children !== undefined) node = childAt(node, childIndex(node.texts, text));
  const index = lowerBound(node.texts, text);
  return node.texts[index] === text ? node.values[index] : undefined;
}

export function treePut<V>(root: TreeNode<V>, text: string, value: V, edit: Edit): TreeNode<V> {
  const changed = putInto(root, text, value, edit);
  const split = splitIfFull(changed, edit);
  if (split === undefined) return changed;
  return { edit, texts: [firstText(changed), firstText(split)], children: [changed, split] };
}

export function treeDelete<V>(root: TreeNode<V>, text: string, edit: Edit): TreeNode<V> {
  if (treeGet(root, text) === undefined) return root;
  let node = deleteFrom(root, text, edit);
  while (node.children !== undefined && node.children.length === 1) node = childAt(node, 0);
  return node.children?.length === 0 ? emptyTree() : node;
}

/** Reads at most `countMax` values of a range, in the direction of the bounds. */
export function treeScan<V>(root: TreeNode<V>, bounds: TreeBounds, countMax: number): V[] {
  const found: V[] = [];
  scanInto(root, bounds, countMax, found);
  return found;
}

function scanInto<V>(node: TreeNode<V>, bounds: TreeBounds, countMax: number, found: V[]): void {
  const { start, end, reverse } = bounds;
  if (node.children === undefined) {
    const from = lowerBound(node.texts, start);
    const to = lowerBound(node.texts, end);
    const count = Math.min(to - from, countMax - found.length);
    for (let step = 0; step < count; step += 1) {
      found.push(node.values[reverse ? to - 1 - step : from + step] as V);
    }
    return;
  }
  const first = childIndex(node.texts, start);
  const last = childIndex(node.texts, end);
  for (let step = 0; step <= last - first && found.length < countMax; step += 1) {
    scanInto(childAt(node, reverse ? last - step : first + step), bounds, countMax, found);
  }
}

function putInto<V>(node: TreeNode<V>, text: string, value: V, edit: Edit): TreeNode<V> {
  const own = owned(node, edit);
  if (own.children === undefined) {
    const index = lowerBound(own.texts, text);
    const replaces = own.texts[index] === text ? 1 : 0;
    own.texts.splice(index, replaces, text);
    own.values.splice(index, replaces, value);
    return own;
  }
  const index = childIndex(own.texts, text);
  const child = putInto(childAt(own, index), text, value, edit);
  own.children[index] = child;
  const split = splitIfFull(child, edit);
  if (split !== undefined) {
    own.texts.splice(index + 1, 0, firstText(split));
    own.children.splice(index + 1, 0, split);
  }
  return own;
}

/** Deletes a key. Removes only empty nodes and never merges small ones: enough for queues, which
 *  delete whole ranges. */
function deleteFrom<V>(node: TreeNode<V>, text: string, edit: Edit): TreeNode<V> {
  const own = owned(node, edit);
  if (own.children === undefined) {
    const index = lowerBound(own.texts, text);
    own.texts.splice(index, 1);
    own.values.splice(index, 1);
    return own;
  }
  const index = childIndex(own.texts, text);
  const child = deleteFrom(childAt(own, index), text, edit);
  if (child.texts.length > 0) {
    own.children[index] = child;
  } else {
    own.texts.splice(index, 1);
    own.children.splice(index, 1);
  }
  return own;
}

function owned<V>(node: TreeNode<V>, edit: Edit): TreeNode<V> {
  if (node.edit === edit) return node;
  const texts = node.texts.slice();
  if (node.children === undefined) return { edit, texts, values: node.values.slice() };
  return { edit, texts, children: node.children.slice() };
}

function splitIfFull<V>(node: TreeNode<V>, edit: Edit): TreeNode<V> | undefined {
  const count = node.texts.length;
  if (count <= entriesMax) return undefined;
  const at = Math.floor(count / 2);
  const texts = node.texts.splice(at);
  if (node.children === undefined) return { edit, texts, values: node.values.splice(at) };
  return { edit, texts, children: node.children.splice(at) };
}

function firstText<V>(node: TreeNode<V>): string {
  return node.texts[0] ?? "";
}

function childAt<V>(node: Branch<V>, index: number): TreeNode<V> {
  const child = node.children[index];
  if (child === undefined) throw new RangeError("branch has no such child");
  return child;
}

/** Index of the first of the ordered `texts` that is not less than `text`. */
function lowerBound(texts: readonly string[], text: string): number {
  let low = 0;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((texts[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the child whose keys may include `text`: the last one that does not start after it. */
function childIndex(texts: readonly string[], text: string): number {
  let low = 1;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((texts[middle] ?? "") <= text) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
