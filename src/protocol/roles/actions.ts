/** Azure's names of what a role may grant, as in its role definitions. */

const prefix = "Microsoft.Storage/storageAccounts/";

/** Alternatives, of which one must be granted completely. `[[]]` needs nothing, `[]` is never
 *  granted. Get Messages: `[[process], [delete, read]]`. */
export type ActionNeed = readonly (readonly string[])[];

/** `blobServices/containers/read` with the prefix of all storage actions. */
export function storageAction(name: string): string {
  return prefix + name;
}

/** A need of one action, or of several together. */
export function every(...names: readonly string[]): ActionNeed {
  return [names.map(storageAction)];
}

/** A need that each of the actions fulfils. */
export function either(...names: readonly string[]): ActionNeed {
  return names.map((name) => [storageAction(name)]);
}

export const nothingNeeded: ActionNeed = [[]];

const dataForms = ["/blobs/", "/messages/", "/entities/", "/files/", "filebackupsemantics/"];

/** Whether a role grants the action by `dataActions` instead of `actions`: it concerns what a
 *  container, queue, table or share contains. */
export function isDataAction(action: string): boolean {
  const lower = action.toLowerCase();
  return dataForms.some((form) => lower.includes(form));
}

/** Whether an action has the form of a role definition: `*` stands for any text. */
export function actionPattern(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i");
}
