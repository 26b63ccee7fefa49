import { mapAwaitable, type Awaitable } from "../base/awaitable.ts";
import {
  defineTable,
  type NoticeView,
  type IndexEntry,
  type RecordChange,
  internalRecord,
  recordCodec,
} from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { NodeKind, NodeRecord } from "./records.ts";

/** Change notices: records that carry changes of files to the other server processes whose SMB
 *  clients watch them (CHANGE_NOTIFY). */

/** The server processes whose SMB clients watch a share: others notify them of changes. */
interface WatchedShare {
  readonly owners: readonly string[];
}

export const watchedShares = defineTable<{ share: bigint }, WatchedShare>({
  name: "watched-shares",
  tag: 0x5c,
  key: ({ share }) => [share],
  codec: recordCodec<WatchedShare>({ version: 1 }),
  owner: "share",
  ...internalRecord,
  lifetime: "process",
});

/** What a change of a file can affect, for the CompletionFilter of CHANGE_NOTIFY. `other` is a
 *  change of metadata, or of bytes without a change of the last write time. */
export type NodeAspect = "attributes" | "size" | "lastWrite" | "created" | "security" | "other";

/** A change of one directory entry, as CHANGE_NOTIFY reports it to clients. */
export interface Notice {
  readonly node: bigint;
  readonly parent: bigint;
  readonly name: string;
  readonly kind: NodeKind;
  readonly action: "added" | "removed" | "modified";
  readonly aspects: readonly NodeAspect[];
}

interface NoticeKey {
  readonly share: bigint;
  /** Id of the process that the notice is for. */
  readonly owner: string;
  readonly at: Ticks;
  readonly node: bigint;
  readonly action: string;
}

/** Notices for each process, by the time of the change. Reading them deletes them. */
export const notices = defineTable<NoticeKey, Notice>({
  name: "file-notices",
  tag: 0x5d,
  key: ({ share, owner, at, node, action }) => [share, owner, at, node, action],
  codec: recordCodec<Notice>({ version: 1 }),
  owner: "share",
  ...internalRecord,
  lifetime: "process",
});

const none: readonly IndexEntry[] = [];

/** The notices of a change, which its transaction stores: one for each process that watches the
 *  share, except the one that made the change (`origin`). Without watchers: one read. */
export function noticesOf(
  share: bigint,
  change: RecordChange<NodeRecord>,
  view: NoticeView,
): Awaitable<readonly IndexEntry[]> {
  const found = view.get(watchedShares.key({ share }));
  return mapAwaitable(found, (watched) =>
    watched === undefined ? none : noticesFor(watched, share, change, view.now),
  );
}

/** The notices of a change in a share that processes watch. */
function noticesFor(
  watched: Uint8Array,
  share: bigint,
  { before, after, origin }: RecordChange<NodeRecord>,
  now: Ticks,
): readonly IndexEntry[] {
  const notice = noticeOf(before, after);
  if (notice === undefined) return none;
  const { owners } = watchedShares.codec.decode(watched);
  const bytes = notices.codec.encode(notice);
  const sharedKey = { share, at: now, node: notice.node, action: notice.action };
  return owners
    .filter((owner) => owner !== origin)
    .map((owner) => ({ key: notices.key({ ...sharedKey, owner }), value: bytes }));
}

/** The notice of a change, from the record before and after it; undefined if clients cannot watch
 *  what changed. */
export function noticeOf(
  before: NodeRecord | undefined,
  after: NodeRecord | undefined,
): Notice | undefined {
  const node = after ?? before;
  if (node === undefined) return undefined;
  const { id, parent, name, kind } = node;
  const about = { node: id, parent, name, kind };
  if (before === undefined) return { ...about, action: "added", aspects: [] };
  if (after === undefined) return { ...about, action: "removed", aspects: [] };
  // Only the times of the directory have changed, because an entry of it has changed. That entry
  // has its own notice.
  if (kind === "directory" && before.etag === after.etag) return undefined;
  const aspects = changedAspects(before, after);
  return aspects.length === 0 ? undefined : { ...about, action: "modified", aspects };
}

function changedAspects(before: NodeRecord, after: NodeRecord): readonly NodeAspect[] {
  const aspects: NodeAspect[] = [];
  if (before.attributes !== after.attributes) aspects.push("attributes");
  if (before.content?.length !== after.content?.length) aspects.push("size");
  if (before.lastWrite !== after.lastWrite) aspects.push("lastWrite");
  if (before.created !== after.created) aspects.push("created");
  if (before.permissionKey !== after.permissionKey) aspects.push("security");
  const isOther = aspects.length === 0 && before.change !== after.change;
  if (isOther) aspects.push("other");
  return aspects;
}
