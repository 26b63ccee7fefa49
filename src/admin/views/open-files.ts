import { formatIso } from "../../core/dates.ts";
import { successor } from "../../core/keys.ts";
import type { RecordView } from "../../core/view.ts";
import { dataAccess, shareDelete, shareRead, shareWrite } from "../../file/locks/access.ts";
import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  type Cache,
  type LockState,
  type Open,
} from "../../file/locks/lock-state.ts";
import { isOplockKey } from "../../file/locks/oplock-keys.ts";
import { locks } from "../../file/records.ts";
import { nodeById, pathOf } from "../../file/tree.ts";
import { Names } from "./names.ts";

export interface OpenFilePage {
  readonly files: readonly object[];
  readonly next: Uint8Array | undefined;
}

/** Of one file; more are counted, not shown. */
const shownMax = 200;
const strayEntriesMax = 5000;

/** Every file that somebody has open, with all that stands between it and others. */
export async function openFilePage(
  view: RecordView,
  { limit, after }: { readonly limit: number; readonly after: Uint8Array | undefined },
): Promise<OpenFilePage> {
  const names = new Names(view);
  const { start, end } = locks.range([]);
  const from = after === undefined || after.length === 0 ? start : successor(after);
  const files: object[] = [];
  const bounds = { start: from, end, limit: limit + strayEntriesMax };
  for await (const batch of view.scan(locks, bounds)) {
    for (const { key, record } of batch) {
      const [share, id] = locks.parts(key) as [bigint, bigint];
      const place = await placeOf(view, names, share, id);
      if (place !== undefined) files.push({ ...place, ...shownState(record) });
      if (files.length === limit) return { files, next: key };
    }
  }
  return { files, next: undefined };
}

async function placeOf(
  view: RecordView,
  names: Names,
  share: bigint,
  id: bigint,
): Promise<object | undefined> {
  const owner = await names.share(share);
  const node = owner && (await nodeById(view, share, id));
  const path = node && (await pathOf(view, share, id));
  if (owner === undefined || node === undefined || path === undefined) return undefined;
  return {
    account: owner.account,
    share: owner.name,
    path: path.join("/"),
    fileId: String(id),
    isDirectory: node.kind === "directory",
  };
}

function shownState({ opens, ranges, caches, deletePending }: LockState): object {
  return {
    deletePending,
    openCount: opens.length,
    opens: opens.slice(0, shownMax).map(shownOpen),
    locks: ranges.slice(0, shownMax).map(({ open, offset, length, exclusive }) => ({
      open: String(open),
      offset: String(offset),
      length: String(length),
      exclusive,
    })),
    caches: caches.slice(0, shownMax).map(shownCache),
  };
}

function shownOpen(open: Open): object {
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

function shownCache({ key, held, breaking }: Cache): object {
  return {
    kind: isOplockKey(key) ? "oplock" : "lease",
    key,
    held: lettersOf(held),
    ...(breaking === undefined
      ? {}
      : { breakingTo: lettersOf(breaking.to), askedAt: formatIso(breaking.askedAt) }),
  };
}

function lettersOf(bits: number): string {
  const read = (bits & cacheRead) === 0 ? "" : "R";
  const write = (bits & cacheWrite) === 0 ? "" : "W";
  return read + write + ((bits & cacheHandle) === 0 ? "" : "H");
}
