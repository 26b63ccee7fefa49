/** Paths of trees: names separated by slashes. Empty components do not count, so that `a//b/` and
 *  `a/b` are the same path, and the path of the root has none. */

export function splitPath(path: string): readonly string[] {
  return path.split("/").filter((component) => component !== "");
}

/** The path of an entry of a directory; the root's path is empty. */
export function joinPath(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}
