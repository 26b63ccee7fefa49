import type { Awaitable } from "../../base/awaitable.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { memo } from "../../process/memo.ts";
import type { RecordView } from "../../operation/view.ts";
import { permissions, type NodeKind, type NodeRecord, type ShareRecord } from "../records.ts";
import { inheritedSddl } from "./inherited-sddl.ts";
import { fileInRootPermissionKey, keyOfText, rootPermissionKey, wellKnownSddl } from "./sddl.ts";

/** The security descriptor that a new file inherits from its directory, if the request has none;
 *  for REST and SMB. */

/** The permission of a new file: the key under which its security descriptor is stored. */
interface NodePermission {
  readonly key: string;
  /** Stores the security descriptor; empty if it is already stored or well known. */
  readonly effects: readonly Effect[];
}

interface Inheritance {
  readonly share: ShareRecord;
  readonly parent: NodeRecord;
  readonly kind: NodeKind;
  /** Security descriptor of the parent that `readParentSddl` returned. */
  readonly parentSddl: string | undefined;
}

/** Reads the security descriptor of the parent. Undefined if none is stored: it is the default one
 *  of the root, or another well-known one. */
export function readParentSddl(
  view: RecordView,
  share: ShareRecord,
  { permissionKey: key }: NodeRecord,
): Awaitable<string | undefined> {
  if (key === undefined || key === rootPermissionKey) return undefined;
  const found = view.get(permissions, { share: share.id, key });
  return found instanceof Promise ? found.then((record) => record?.sddl) : found?.sddl;
}

const fileInRoot: NodePermission = { key: fileInRootPermissionKey, effects: [] };
const directoryInRoot: NodePermission = { key: rootPermissionKey, effects: [] };

/** The security descriptor that a new file or directory inherits. If that of the parent is unknown
 *  or has no inheritable entry, the child gets the same one as the parent: no recording shows what
 *  the service does in this case. */
export function inheritPermission(inheritance: Inheritance): NodePermission {
  const { share, parent, kind } = inheritance;
  const parentKey = parent.permissionKey ?? rootPermissionKey;
  if (parentKey === rootPermissionKey) {
    return kind === "directory" ? directoryInRoot : fileInRoot;
  }
  const sddl = inheritance.parentSddl ?? wellKnownSddl(parentKey);
  const inherit = inheritedBy[kind === "directory" ? kind : "file"];
  const inherited = sddl === undefined ? undefined : inherit(sddl);
  if (inherited === undefined) return { key: parentKey, effects: [] };
  const { key, text } = inherited;
  // The descriptor of the parent is already stored. Storing it again would conflict with every
  // create that reads it.
  if (key === parentKey) return { key, effects: [] };
  return { key, effects: [put(permissions, { share: share.id, key }, { sddl: text })] };
}

interface KeyedText {
  readonly key: string;
  readonly text: string;
}

/** Cache of inherited descriptors, by the descriptor of the parent: all files of a directory
 *  usually inherit the same one. */
const recentMax = 256;
const inheritedBy = {
  directory: memo(recentMax, (sddl: string) => keyed(inheritedSddl(sddl, "directory"))),
  file: memo(recentMax, (sddl: string) => keyed(inheritedSddl(sddl, "file"))),
};

function keyed(text: string | undefined): KeyedText | undefined {
  return text === undefined ? undefined : { key: keyOfText(text), text };
}
