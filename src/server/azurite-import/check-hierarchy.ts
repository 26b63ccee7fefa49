import { blobTypeOf } from "./blob-document.ts";
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
  const all = folder.documents("blob", (name) => name === "$BLOBS_COLLECTION$");
  for await (const { fields } of all) {
    const account = requiredText(fields, "accountName");
    if (!staged.isHierarchical(account) || fields["isCommitted"] === false) continue;
    const problem = problemOf(fields);
    if (problem === undefined) continue;
    const path = `${requiredText(fields, "containerName")}/${requiredText(fields, "name")}`;
    problems.push(`blob ${path}: ${problem}`);
    if (problems.length >= problemsMax) break;
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
