/** The path of a file or directory in a tree: names separated by slashes. Empty names do not count,
 *  so that `a//b/` and `a/b` are the same path, and the path of the root is empty. */

export function splitPath(path: string): readonly string[] {
  return path.split("/").filter((component) => component !== "");
}

/** The path of an entry of `directory`; the path of the root is empty. */
export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** Depth-first order: a directory comes before its entries, and these before its next sibling.
 *  Siblings are ordered by the UTF-8 bytes of their names, like the keys of the store. */
export function comparePaths(left: readonly string[], right: readonly string[]): number {
  for (const [at, name] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (name === other) continue;
    return Buffer.compare(Buffer.from(name), Buffer.from(other));
  }
  return left.length - right.length;
}
