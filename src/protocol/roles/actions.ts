/* Actions: Azure's names of what a role may grant, as in its role definitions. */

const prefix = "Microsoft.Storage/storageAccounts/";

/** The actions that an operation needs: alternatives, of which one must be granted completely.
 *  `[[]]` needs nothing, `[]` is never granted. Get Messages: `[[process], [delete, read]]`. */
export type ActionNeed = readonly (readonly string[])[];

/** The full name of an action: `blobServices/containers/read`, for example, with the prefix of all
 *  storage actions. */
export function storageAction(name: string): string {
  return prefix + name;
}

/** The need of all these actions together. */
export function every(...names: readonly string[]): ActionNeed {
  return [names.map(storageAction)];
}

/** The need of at least one of these actions. */
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

/** Converts an action of a role definition to a regular expression; `*` stands for any text. */
export function actionPattern(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i");
}
