import { put, remove } from "../../operation/effects.ts";
import type { Ticks } from "../../base/ticks.ts";
import { runOnce, type Attempt, type Runtime } from "../../operation/work.ts";
import { notices, watchedShares, type Notice } from "../notices.ts";
import { rootId } from "../records.ts";
import { nodeById } from "../share-tree.ts";

/** Change notification between server processes, for CHANGE_NOTIFY of SMB clients
 *  (`smb/files/change-dispatcher.ts`). */

/** Starts it for one share: from now on, each change in the share by another process stores a
 *  notice for the process `owner`. */
export function watchShare(runtime: Runtime, share: bigint, owner: string): Promise<void> {
  return write(runtime, async (attempt) => {
    const owners = await ownersOf(attempt, share);
    if (owners.includes(owner)) return;
    await attempt.apply([put(watchedShares, { share }, { owners: [...owners, owner] })]);
  });
}

/** Ends change notification for a process, and deletes the notices that it has not read. */
export async function unwatchShare(runtime: Runtime, share: bigint, owner: string): Promise<void> {
  await write(runtime, async (attempt) => {
    const present = await ownersOf(attempt, share);
    const owners = present.filter((each) => each !== owner);
    const key = { share };
    if (owners.length === present.length) return;
    await attempt.apply([
      owners.length === 0 ? remove(watchedShares, key) : put(watchedShares, key, { owners }),
    ]);
  });
  // No more notices are written for this process now, so that deleting the remaining ones ends.
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const taken = await readNotices(runtime, share, owner);
    if (taken.length < noticesMax) return;
  }
}

function write<T>(runtime: Runtime, attempt: (attempt: Attempt) => Promise<T>): Promise<T> {
  return runOnce(runtime, { effect: "writes", attempt });
}

async function ownersOf({ records }: Attempt, share: bigint): Promise<readonly string[]> {
  return (await records.get(watchedShares, { share }))?.owners ?? [];
}

export interface DatedNotice extends Notice {
  /** Store time of the transaction that made the change. */
  readonly at: Ticks;
}

/** Most notices that one transaction reads and deletes, so that it stays short. */
const noticesMax = 500;
/** Ends the loop of `unwatchShare`, should a process still write notices. */
const roundsMax = 10_000;

/** Returns and deletes the oldest notices of a process; callers repeat it until none is left. */
export function readNotices(
  runtime: Runtime,
  share: bigint,
  owner: string,
): Promise<readonly DatedNotice[]> {
  return write(runtime, async (attempt) => {
    const taken: DatedNotice[] = [];
    const bounds = { ...notices.range([share, owner]), limit: noticesMax };
    for await (const batch of attempt.records.scan(notices, bounds)) {
      for (const { key, record } of batch) {
        taken.push({ ...record, at: notices.parts(key)[2] as Ticks });
      }
    }
    await attempt.apply(
      taken.map(({ at, node, action }) => remove(notices, { share, owner, at, node, action })),
    );
    return taken;
  });
}

/** Most watched shares that one sweep examines: an end for its memory and time. */
const sharesMax = 10_000;

/** Removes change notifications of server processes that have ended, for which other processes
 *  would store notices for ever. */
export async function sweepWatchedShares(
  runtime: Runtime,
  isAlive: (owner: string) => boolean,
): Promise<void> {
  const findDead = async ({ records }: Attempt) => {
    const found: { share: bigint; owner: string }[] = [];
    const bounds = { ...watchedShares.range([]), limit: sharesMax };
    for await (const batch of records.scan(watchedShares, bounds)) {
      for (const { key, record } of batch) {
        const share = watchedShares.parts(key)[0] as bigint;
        for (const owner of record.owners) if (!isAlive(owner)) found.push({ share, owner });
      }
    }
    return found;
  };
  const dead = await runOnce(runtime, { effect: "reads", attempt: findDead });
  for (const { share, owner } of dead) await unwatchShare(runtime, share, owner);
}

/** A directory on the path to a file; the root has the name "". */
export interface Ancestor {
  readonly id: bigint;
  readonly name: string;
}

/** More levels than a path can have: ends the loop if damaged records form a cycle. */
const depthMax = 256;

/** The directories from the root down to a directory, inclusive: a client that watches one of them
 *  with its subtree is notified. If a directory above was deleted since the path was found, the
 *  list starts below it. */
export function ancestorsOf(
  runtime: Runtime,
  share: bigint,
  directory: bigint,
): Promise<readonly Ancestor[]> {
  const find = async ({ records: view }: Attempt) => {
    const steps: Ancestor[] = [];
    let at = directory;
    for (let depth = 0; at !== rootId && depth < depthMax; depth += 1) {
      const node = await nodeById(view, share, at);
      if (node === undefined) return steps;
      steps.unshift({ id: at, name: node.name });
      at = node.parent;
    }
    steps.unshift({ id: rootId, name: "" });
    return steps;
  };
  return runOnce(runtime, { effect: "reads", attempt: find });
}
