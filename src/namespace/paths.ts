/** Paths of trees: names separated by slashes. Empty components do not count, so that `a//b/` and
 *  `a/b` are the same path, and the path of the root has none. */

export function splitPath(path: string): readonly string[] {
  return path.split("/").filter((component) => component !== "");
}

/** The path of an entry of a directory; the root's path is empty. */
export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** The order of a walk through a tree: by components, so that what is in a directory comes right
 *  after it, and in the order of keys, which is that of UTF-8. */
export function comparePaths(left: readonly string[], right: readonly string[]): number {
  for (const [at, name] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (name === other) continue;
    return Buffer.compare(Buffer.from(name), Buffer.from(other));
  }
  return left.length - right.length;
}
