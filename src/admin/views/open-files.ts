import { formatIso } from "../../base/dates.ts";
import { successor } from "../../encoding/keys.ts";
import type { RecordView } from "../../operation/view.ts";
import { dataAccess, shareDelete, shareRead, shareWrite } from "../../file/locks/access.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  type CachingGrant,
  type LockState,
  type Open,
  isOplockKey,
} from "../../file/locks/lock-state.ts";
import { locks, displacedParent } from "../../file/records.ts";
import { nodeById, pathOf } from "../../file/share-tree.ts";
import { scanPage, type Page, type PageBounds } from "./pages.ts";
import { Names } from "./names.ts";

/** The files that SMB clients have open, for the SMB page of the explorer, `etagere status` and
 *  timelines. */

/** Limit of the opens, byte-range locks and caching grants that are shown of each file; further
 *  opens are only counted. */
const shownMax = 200;

/** One page of the open files whose share the caller may see. */
export function openFilePage(
  view: RecordView,
  { limit, after, sees }: PageBounds,
): Promise<Page<SmbFile>> {
  const names = new Names(view);
  const range = locks.range([]);
  const start = after === undefined ? range.start : successor(after);
  return scanPage(view, locks, { ...range, start, limit }, async (key, record) => {
    const [share, id] = locks.parts(key) as [bigint, bigint];
    const place = await fileTargetOf(view, names, share, id);
    const { account = "", share: shareName } = place ?? {};
    const isShown = place && sees({ service: "file", account, name: shareName });
    return isShown ? { ...place, ...renderState(record) } : undefined;
  });
}

interface FileTarget {
  readonly account: string;
  readonly share: string;
  readonly path: string;
  readonly fileId: string;
  readonly isDirectory: boolean;
  /** Set if a rename has replaced the file while it was open; `path` is then its former name. */
  readonly isDisplaced?: boolean;
}

/** Names of a file by the ids of its lock record; undefined if it does not exist any more. */
export async function fileTargetOf(
  view: RecordView,
  names: Names,
  share: bigint,
  id: bigint,
): Promise<FileTarget | undefined> {
  const owner = await names.share(share);
  const node = owner && (await nodeById(view, share, id));
  if (owner === undefined || node === undefined) return undefined;
  const isDisplaced = node.parent === displacedParent;
  // A displaced file has lost its name to another file; its handles can still be closed.
  const path = isDisplaced ? [node.name] : await pathOf(view, share, node);
  if (path === undefined) return undefined;
  return {
    account: owner.account,
    share: owner.name,
    path: path.join("/"),
    fileId: String(id),
    isDirectory: node.kind === "directory",
    ...(isDisplaced && { isDisplaced }),
  };
}

/** An open file. At most 200 handles, locks and grants of it are listed. */
export type SmbFile = FileTarget & ReturnType<typeof renderState>;

function renderState({ opens, ranges, caches, deletePending }: LockState) {
  return {
    deletePending,
    openCount: opens.length,
    opens: opens.slice(0, shownMax).map(renderOpen),
    locks: ranges.slice(0, shownMax).map(({ open, offset, length, exclusive }) => ({
      open: String(open),
      offset: String(offset),
      length: String(length),
      exclusive,
    })),
    caches: caches.slice(0, shownMax).map(renderCachingGrant),
  };
}

function renderOpen(open: Open) {
  const { id, session, client, access, share, deleteOnClose, openedAt, disconnectedAt } = open;
  return {
    id: String(id),
    session: String(session),
    client,
    access: rightsOf(dataAccess(access)),
    shareMode: rightsOf(share),
    deleteOnClose,
    openedAt: formatIso(openedAt),
    ...(disconnectedAt === undefined ? {} : { disconnectedAt: formatIso(disconnectedAt) }),
  };
}

function rightsOf(bits: number): readonly string[] {
  const rights: string[] = [];
  if ((bits & shareRead) !== 0) rights.push("Read");
  if ((bits & shareWrite) !== 0) rights.push("Write");
  if ((bits & shareDelete) !== 0) rights.push("Delete");
  return rights;
}

function renderCachingGrant({ key, held, breaking }: CachingGrant) {
  return {
    kind: isOplockKey(key) ? "oplock" : "lease",
    key,
    held: lettersOf(held),
    ...(breaking === undefined
      ? {}
      : { breakingTo: lettersOf(breaking.to), askedAt: formatIso(breaking.askedAt) }),
  };
}

/** A caching grant as letters: read (R), write (W) and handle (H) caching. */
export function lettersOf(bits: number): string {
  const read = (bits & cacheRead) === 0 ? "" : "R";
  const write = (bits & cacheWrite) === 0 ? "" : "W";
  return read + write + ((bits & cacheHandle) === 0 ? "" : "H");
}
