import { splitPath } from "../../namespace/paths.ts";
import { blobRecordOf, blobTypeOf, contentLengthOf, snapshotOf } from "./blob-document.ts";
import { isDirectoryMark, nameProblem } from "./blob-slot.ts";
import { fieldsOf, listOf, requiredText, type Fields } from "./document-fields.ts";
import type { ImportContext } from "./import-context.ts";
import { ImportRefused } from "./import-refused.ts";

/** Problems that one refusal lists. */
const problemsMax = 20;

/** Refuses blobs that an account with a hierarchical namespace cannot have, before any content is
 *  stored. */
export async function checkHierarchy(context: ImportContext): Promise<void> {
  const { folder, staged } = context;
  if (!staged.hasHierarchy) return;
  const problems: string[] = [];
  const names = new PathNames();
  const all = folder.documents("blob", (name) => name === "$BLOBS_COLLECTION$");
  for await (const { fields } of all) {
    if (!staged.isHierarchical(requiredText(fields, "accountName"))) continue;
    const isTaken = names.add(fields);
    const isCommitted = fields["isCommitted"] !== false;
    const problem = isTaken ? "appears twice" : isCommitted ? problemOf(fields) : undefined;
    if (problem !== undefined) problems.push(`blob ${nameOf(fields)}: ${problem}`);
    if (problems.length >= problemsMax) break;
  }
  for (const name of names.conflicts()) {
    if (problems.length >= problemsMax) break;
    problems.push(`blob ${name}: ${nameProblem}`);
  }
  if (problems.length > 0) throw new ImportRefused([...problems, advice]);
}

const advice =
  "an account with a hierarchical namespace cannot have these: import into a flat account";

function problemOf(document: Fields): string | undefined {
  if (blobTypeOf(document) === "PageBlob") return "it is a page blob";
  const tags = listOf(fieldsOf(document["blobTags"])["blobTagSet"]);
  return tags.length === 0 ? undefined : "it has tags";
}

/** Container and name of a blob. */
function nameOf(document: Fields): string {
  return `${requiredText(document, "containerName")}/${requiredText(document, "name")}`;
}

/** Blobs whose names are compared. The names are in memory; conflicts of further blobs are found
 *  when they are stored, and then end the import one at a time. */
const comparedNamesMax = 200_000;

/** Finds files that are also directories of other names: blobs `a` and `a/b`. */
class PathNames {
  /** Names of the blobs that become files, by account, container and path. */
  readonly #files = new Map<string, string>();
  readonly #directories = new Set<string>();
  #count = 0;

  /** Returns whether another blob has the same path. */
  add(document: Fields): boolean {
    if (this.#count >= comparedNamesMax || snapshotOf(document) !== undefined) return false;
    this.#count += 1;
    const name = requiredText(document, "name");
    const account = requiredText(document, "accountName");
    const root = `${account}/${requiredText(document, "containerName")}`;
    const path = [root, ...splitPath(name)].join("/");
    for (let at = path.indexOf("/", root.length + 1); at > 0; at = path.indexOf("/", at + 1)) {
      this.#directories.add(path.slice(0, at));
    }
    // A blob that has only uncommitted blocks is no file yet, but its directories are created.
    if (document["isCommitted"] === false) return false;
    if (isDirectoryMark(blobRecordOf(document, 0n), name, contentLengthOf(document))) {
      this.#directories.add(path);
      return false;
    }
    const isTaken = this.#files.has(path);
    this.#files.set(path, nameOf(document));
    return isTaken;
  }

  *conflicts(): Iterable<string> {
    for (const [path, name] of this.#files) if (this.#directories.has(path)) yield name;
  }
}
