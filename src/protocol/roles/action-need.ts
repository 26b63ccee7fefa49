import type { Permission } from "../permission.ts";
import type { ServiceName } from "../names.ts";
import { either, every, nothingNeeded, storageAction, type ActionNeed } from "./role.ts";

/** Derives from the declaration of an operation which actions a role must grant, so that operations
 *  need not list them. */

/** What the actions of an operation follow from: fields of its declaration. */
interface ActionSource {
  readonly permission: Permission;
  readonly effect?: "reads" | "writes" | undefined;
  readonly lease?: string | undefined;
  readonly isDeletion?: true | undefined;
}

/** An `ActionSource` with the values that all rules below compute from it. */
interface Facts extends ActionSource {
  readonly letters: string;
  readonly has: (letter: string) => boolean;
  readonly isRead: boolean;
}

/** The actions that a role must grant for an operation. They follow from the service, the kind of
 *  resource, the letters and the effect, as in Azure's table of permissions; `permission.actions`
 *  states them where they do not.
 *  learn.microsoft.com/rest/api/storageservices/authorize-with-azure-active-directory */
export function actionNeedOf(service: ServiceName, source: ActionSource): ActionNeed {
  const { permission, effect } = source;
  const { letters = "" } = permission;
  if (permission.actions !== undefined) return permission.actions;
  if (permission.allowsAnonymous === true) return nothingNeeded;
  if (permission.bearerOnly === true) {
    return every(`${service}Services/generateUserDelegationKey/action`);
  }
  const isRead = effect === "reads" || (effect === undefined && letters === "r");
  const facts = { ...source, letters, has: (each: string) => letters.includes(each), isRead };
  const level = permission.resourceType;
  if (level === "s") return ofService(service, facts);
  return level === "c" ? ofContainer(service, facts) : ofContents[service](facts);
}

const containerNames: Readonly<Record<ServiceName, string>> = {
  blob: "containers",
  queue: "queues",
  table: "tables",
  file: "shares",
};

function ofService(service: ServiceName, { has }: Facts): ActionNeed {
  if (has("l")) return every(`${service}Services/${containerNames[service]}/read`);
  return every(`${service}Services/${has("w") ? "write" : "read"}`);
}

function ofContainer(service: ServiceName, facts: Facts): ActionNeed {
  const { permission, has, isRead, lease } = facts;
  const container = `${service}Services/${containerNames[service]}`;
  const onlyReads = facts.letters === "" ? isRead : has("r") || has("l");
  const readOrWrite = every(`${container}/${onlyReads ? "read" : "write"}`);
  if (permission.sas === "none") {
    // Azure has no actions for access policies of the file service.
    if (service === "file") return readOrWrite;
    return every(`${container}/${isRead ? "getAcl" : "setAcl"}/action`);
  }
  if (lease === "action") return every(`${container}/${service === "file" ? leaseShare : "write"}`);
  if (has("d")) return every(`${container}/delete`);
  if (has("l") && service !== "table") return ofContents[service](facts);
  return readOrWrite;
}

const leaseShare = "lease/action";

const blobs = "blobServices/containers/blobs";
const messages = "queueServices/queues/messages";
const entities = "tableServices/tables/entities";
const files = "fileServices/fileShares/files";

/** Actions of operations on blobs, by the letters that decide them: the first entry applies whose
 *  letters the operation has. */
const blobLetters: readonly (readonly [letters: string, need: ActionNeed])[] = [
  ["f", every(`${blobs}/filter/action`)],
  ["x", every(`${blobs}/deleteBlobVersion/action`)],
  ["y", every(`${blobs}/permanentDelete/action`)],
  ["i", every(`${blobs}/immutableStorage/runAsSuperUser/action`)],
  ["p", every(`${blobs}/modifyPermissions/action`)],
  // The source of a rename has the letters `md`. The deletion of a blob has only `d`, which is
  // decided below.
  ["md", [...every(`${blobs}/move/action`), ...every(`${blobs}/write`, `${blobs}/delete`)]],
];

const addOrWrite = either(`${blobs}/write`, `${blobs}/add/action`);

const ofContents: Readonly<Record<ServiceName, (facts: Facts) => ActionNeed>> = {
  blob: ({ letters, has, isRead, permission, lease }) => {
    if (permission.notFoundIfAnonymous === true) return every("blobServices/getInfo/action");
    // Blob Batch itself needs only this; each of its parts is checked by itself.
    if (letters === "") return every("blobServices/containers/write");
    if (has("t")) return every(`${blobs}/tags/${isRead ? "read" : "write"}`);
    const found = blobLetters.find(([form]) => letters.includes(form));
    if (found !== undefined) return found[1];
    if (lease === "action") return every(`${blobs}/write`);
    if (letters === "d") return every(`${blobs}/delete`);
    if (has("c") || has("a")) return has("m") ? every(`${blobs}/write`) : addOrWrite;
    return every(`${blobs}/${has("w") ? "write" : "read"}`);
  },
  queue: ({ letters, isDeletion }) => {
    switch (letters) {
      case "a":
        return either(`${messages}/add/action`, `${messages}/write`);
      case "p":
        return isDeletion === true
          ? either(`${messages}/process/action`, `${messages}/delete`)
          : [
              [storageAction(`${messages}/process/action`)],
              [storageAction(`${messages}/delete`), storageAction(`${messages}/read`)],
            ];
      case "d":
        return every(`${messages}/delete`);
      default:
        return every(`${messages}/${letters === "r" ? "read" : "write"}`);
    }
  },
  table: ({ letters }) => {
    switch (letters) {
      case "":
        // The transaction itself needs no action: each of its parts is checked by itself.
        return nothingNeeded;
      case "a":
        return either(`${entities}/write`, `${entities}/add/action`);
      case "u":
        return either(`${entities}/write`, `${entities}/update/action`);
      case "au":
        return [
          ...every(`${entities}/write`),
          ...every(`${entities}/add/action`, `${entities}/update/action`),
        ];
      default:
        return every(`${entities}/${letters === "d" ? "delete" : "read"}`);
    }
  },
  file: ({ letters }) =>
    letters === "r" || letters === "l"
      ? every(`${files}/read`, "fileServices/readFileBackupSemantics/action")
      : every(`${files}/write`, "fileServices/writeFileBackupSemantics/action"),
};

/** Needed in addition to replace an existing blob: the action `add`, which suffices for a new one,
 *  does not. */
export const overwriteNeed: ActionNeed = every(`${blobs}/write`);

/** Needed in addition if an operation on a blob sets tags, or reads them in a condition. */
export function tagNeed(sets: boolean): ActionNeed {
  return every(`${blobs}/tags/${sets ? "write" : "read"}`);
}

const modifyPermissions = `${files}/modifypermissions/action`;

/** Needed in addition to change the permission of a file or directory. */
export const changePermissionNeed: ActionNeed = every(modifyPermissions);

/** Operations on the stored permissions of a share (security descriptors) need actions on its
 *  files. */
export const createPermissionNeed: ActionNeed = every(
  modifyPermissions,
  "fileServices/writeFileBackupSemantics/action",
);
export const getPermissionNeed: ActionNeed = every(
  `${files}/read`,
  "fileServices/readFileBackupSemantics/action",
);
export const restoreShareNeed: ActionNeed = every("fileServices/shares/restore/action");
