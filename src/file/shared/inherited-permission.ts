import type { Awaitable } from "../../base/awaitable.ts";
import { put, type Effect } from "../../operation/effects.ts";
import { RecentMap } from "../../encoding/recent-map.ts";
import type { RecordView } from "../../operation/view.ts";
import { permissions, type NodeKind, type NodeRecord, type ShareRecord } from "../records.ts";
import { inheritedSddl } from "./inherited-sddl.ts";
import { fileInRootPermissionKey, keyOfText, rootPermissionKey, wellKnownSddl } from "./sddl.ts";

export interface NodePermission {
  readonly key: string;
  /** Stores the text of the key; empty for well-known keys. */
  readonly effects: readonly Effect[];
}

export interface Inheritance {
  readonly share: ShareRecord;
  readonly parent: NodeRecord;
  readonly kind: NodeKind;
  /** What `parentSddl` returned. */
  readonly parentSddl: string | undefined;
}

/** Reads the permission of the parent; undefined if its key alone says what children inherit. */
export function parentSddl(
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

/** The permission that a new file or directory inherits. If the parent's permission is unknown
 *  or has no inheritable entry, the child gets the parent's key: no recording shows what the
 *  service does then. */
export function inheritPermission(inheritance: Inheritance): NodePermission {
  const { share, parent, kind } = inheritance;
  const parentKey = parent.permissionKey ?? rootPermissionKey;
  if (parentKey === rootPermissionKey) {
    return kind === "directory" ? directoryInRoot : fileInRoot;
  }
  const sddl = inheritance.parentSddl ?? wellKnownSddl(parentKey);
  const inherited = sddl === undefined ? undefined : remembered(sddl, kind);
  if (inherited === undefined) return { key: parentKey, effects: [] };
  const { key, text } = inherited;
  // The parent's own key has its text. Storing it again would conflict with every create that
  // reads it.
  if (key === parentKey) return { key, effects: [] };
  return { key, effects: [put(permissions, { share: share.id, key }, { sddl: text })] };
}

interface KeyedText {
  readonly key: string;
  readonly text: string;
}

/** Cached: all files of a directory usually inherit one permission. */
const recentMax = 256;
const recent = new RecentMap<KeyedText>(recentMax);

function remembered(sddl: string, kind: NodeKind): KeyedText | undefined {
  const form = kind === "directory" ? "directory" : "file";
  const name = `${form} ${sddl}`;
  const known = recent.get(name);
  if (known !== undefined) return known;
  const text = inheritedSddl(sddl, form);
  if (text === undefined) return undefined;
  const made = { key: keyOfText(text), text };
  recent.set(name, made);
  return made;
}
