import { runOnce, type Attempt, type Runtime, type Work } from "../../operation/work.ts";
import type { RecordView } from "../../operation/view.ts";
import { hasChildren } from "../directory/directories.ts";
import { changedHandles, serverNodeEvents, unmarkOpenChanges } from "../events.ts";
import { closeHandles } from "../handle/close-handles.ts";
import { decideClose } from "../locks/opens.ts";
import { locks, openChanges, shares, type ShareRecord } from "../records.ts";
import { nodeById } from "../share-tree.ts";
import { isOpen, loadLocks } from "./handle-operation.ts";
import { entriesChanged } from "./new-node.ts";
import { sweepWatchedShares } from "./watching.ts";

/** Closes the handles of server processes that have ended, at the start of a server and in the
 *  background (`server/running-server.ts`, `server/smb-endpoint.ts`). */

interface OpenFile {
  readonly share: bigint;
  readonly file: bigint;
}

/** Most open files of the store that one sweep examines: an end for its memory and time. */
const filesMax = 100_000;
/** Files that are swept at the same time: their transactions share one flush. */
const concurrentFilesMax = 32;

/** Closes handles of processes that have ended, whose locks would otherwise block REST requests for
 *  ever. Reads the owners of handles before the list of running processes. A process is in that
 *  list before it opens files, so a process that has just started is not treated as ended. Returns
 *  the number of files with closed handles. */
export async function closeOrphanedHandles(
  runtime: Runtime,
  owners: () => Promise<ReadonlySet<string>>,
): Promise<number> {
  const holders = new Set<string>();
  await sweepHandles(runtime, (owner) => {
    holders.add(owner);
    return true;
  });
  if (holders.size === 0) return 0;
  const running = await owners();
  const dead = new Set([...holders].filter((owner) => !running.has(owner)));
  return dead.size === 0 ? 0 : sweepHandles(runtime, (owner) => !dead.has(owner));
}

/** Closes the handles whose owner (`Open.owner`) is not alive, writes the events of changes that no
 *  close will write, and ends change notifications of ended processes. Returns the number of files
 *  with closed handles. */
export async function sweepHandles(
  runtime: Runtime,
  isAlive: (owner: string) => boolean,
): Promise<number> {
  const files = await runOnce(runtime, {
    effect: "reads",
    attempt: ({ records }) => filesToSweep(records, isAlive),
  });
  for (let at = 0; at < files.length; at += concurrentFilesMax) {
    const batch = files.slice(at, at + concurrentFilesMax);
    const sweep = (file: OpenFile): Work<void> => ({
      effect: "writes",
      mayUseReserve: true,
      attempt: (attempt) => sweepFile(attempt, file, isAlive),
    });
    await Promise.all(batch.map((file) => runOnce(runtime, sweep(file))));
  }
  await sweepLostChanges(runtime);
  await sweepWatchedShares(runtime, isAlive);
  return files.length;
}

/** Writes the events of handles through which content was changed (`openChanges`) and that no lock
 *  state contains any more, so that no close will write them: lock states do not survive a reboot,
 *  and saved states do not contain them. */
async function sweepLostChanges(runtime: Runtime): Promise<void> {
  const lost = await runOnce(runtime, {
    effect: "reads",
    attempt: async ({ records }) => {
      const found: OpenFile[] = [];
      const bounds = { ...openChanges.range([]), limit: filesMax };
      for await (const batch of records.scan(openChanges, bounds)) {
        for (const { key } of batch) {
          const [share, file, handle] = openChanges.parts(key) as [bigint, bigint, bigint];
          const state = await loadLocks(records, share, file);
          if (!isOpen(state, handle)) found.push({ share, file });
        }
      }
      return found;
    },
  });
  for (const file of lost) {
    await runOnce(runtime, {
      effect: "writes",
      mayUseReserve: true,
      attempt: (attempt) => settleLostChanges(attempt, file),
    });
  }
}

async function settleLostChanges(attempt: Attempt, { share, file }: OpenFile): Promise<void> {
  const { records: view } = attempt;
  const state = await loadLocks(view, share, file);
  const lost: bigint[] = [];
  for await (const batch of view.scan(openChanges, openChanges.range([share, file]))) {
    const handles = batch.map(({ key }) => openChanges.parts(key)[2] as bigint);
    lost.push(...handles.filter((handle) => !isOpen(state, handle)));
  }
  const node = await nodeById(view, share, file);
  const changes = node === undefined ? [] : lost.map(() => ({ api: "SmbWrite", node }) as const);
  const events = await serverNodeEvents(view, share, changes);
  await attempt.apply([...unmarkOpenChanges({ share, file }, lost), ...events]);
}

async function filesToSweep(
  view: RecordView,
  isAlive: (owner: string) => boolean,
): Promise<readonly OpenFile[]> {
  const files: OpenFile[] = [];
  const bounds = { ...locks.range([]), limit: filesMax };
  for await (const batch of view.scan(locks, bounds)) {
    for (const { key, record } of batch) {
      if (record.opens.every(({ owner }) => isAlive(owner))) continue;
      const [share, file] = locks.parts(key);
      if (typeof share === "bigint" && typeof file === "bigint") files.push({ share, file });
    }
  }
  return files;
}

async function sweepFile(
  attempt: Attempt,
  { share: shareId, file }: OpenFile,
  isAlive: (owner: string) => boolean,
): Promise<void> {
  const { records: view, now } = attempt;
  const before = await loadLocks(view, shareId, file);
  const ended = before.opens.filter(({ owner }) => !isAlive(owner));
  const handles = new Set(ended.map(({ id }) => id));
  const node = await nodeById(view, shareId, file);
  const changed = await changedHandles(view, { share: shareId, file }, handles);
  const isFull = node?.kind === "directory" && (await hasChildren(view, shareId, node.id));
  const mayDelete = node !== undefined && !isFull;
  const willDelete = mayDelete && decideClose(before, handles, { mayDelete }).deletesFile;
  const owner = willDelete ? await shareById(view, shareId) : undefined;
  const share = owner?.share;
  const { effects, isDeleted, changes } = closeHandles(
    { share: shareId, file },
    { share, node, locks: before, handles, changed, hasChildren: isFull, now },
  );
  const parent = isDeleted && node ? await nodeById(view, shareId, node.parent) : undefined;
  const touched =
    share === undefined || parent === undefined ? [] : entriesChanged(share, parent, now);
  attempt.usage = attempt.runtime.quotas?.usageOf(owner?.account);
  const events = await serverNodeEvents(view, shareId, changes);
  await attempt.apply([...effects, ...touched, ...events]);
}

interface OwnedShare {
  readonly account: bigint;
  readonly share: ShareRecord;
}

/** Finds a share by its id by scanning all shares: the key of a lock state has only the id. Runs
 *  only for a file that the sweep deletes. */
async function shareById(view: RecordView, id: bigint): Promise<OwnedShare | undefined> {
  for await (const batch of view.scan(shares, shares.range([]))) {
    for (const { key, record } of batch) {
      if (record.id === id) return { account: shares.parts(key)[0] as bigint, share: record };
    }
  }
  return undefined;
}
