import type { Runtime } from "../../operation/execute.ts";
import { locks, shares, type ShareRecord } from "../records.ts";
import { decideClose } from "../locks/opens.ts";
import { nodeById, nodeKeyOf } from "../share-tree.ts";
import { isEmpty } from "./close.ts";
import { removeEntry } from "./node-effects.ts";
import { sweepWatchers } from "./watching.ts";
import {
  writeTransaction,
  keepLocks,
  readSnapshot,
  type FileTransaction,
} from "./file-transaction.ts";

interface LeftBehind {
  readonly share: bigint;
  readonly file: bigint;
}

const filesMax = 100_000;
/** So many share their commits. */
const sweptTogether = 32;

/** Handles do not outlive their process: those of the dead end here, as if they were closed. */
export async function sweepHandles(
  runtime: Runtime,
  isAlive: (owner: string) => boolean,
): Promise<number> {
  const left = await readSnapshot(runtime, (work) => leftBehind(work, isAlive));
  for (let at = 0; at < left.length; at += sweptTogether) {
    const files = left.slice(at, at + sweptTogether);
    const sweep = (file: LeftBehind) => (work: FileTransaction) => sweepFile(work, file, isAlive);
    await Promise.all(
      files.map((file) => writeTransaction(runtime, sweep(file), { mayUseReserve: true })),
    );
  }
  await sweepWatchers(runtime, isAlive);
  return left.length;
}

async function leftBehind(
  work: FileTransaction,
  isAlive: (owner: string) => boolean,
): Promise<readonly LeftBehind[]> {
  const found: LeftBehind[] = [];
  const bounds = { ...locks.range([]), limit: filesMax };
  for await (const batch of work.view.scan(locks, bounds)) {
    for (const { key, record } of batch) {
      if (record.opens.every(({ owner }) => isAlive(owner))) continue;
      const [share, file] = locks.parts(key);
      if (typeof share === "bigint" && typeof file === "bigint") found.push({ share, file });
    }
  }
  return found;
}

async function sweepFile(
  work: FileTransaction,
  { share, file }: LeftBehind,
  isAlive: (owner: string) => boolean,
): Promise<void> {
  const before = await work.locksOf(share, file);
  const node = await nodeById(work.view, share, file);
  const mayDelete = node !== undefined && (await isEmpty(work, share, node));
  const dead = before.opens.filter(({ owner }) => !isAlive(owner));
  const ids = new Set(dead.map(({ id }) => id));
  const { state, gone } = decideClose(before, ids, { mayDelete });
  const record = gone && mayDelete ? await shareById(work, share) : undefined;
  const removal =
    node === undefined || record === undefined
      ? []
      : await removeEntry(work, { share: record, node, key: nodeKeyOf(share, node) });
  const idle = { ...state, deletePending: state.deletePending && state.opens.length > 0 };
  await work.apply([...removal, keepLocks(share, file, idle)]);
}

/** Locks know their share by its id alone; there are few shares, and this happens once. */
async function shareById(work: FileTransaction, id: bigint): Promise<ShareRecord | undefined> {
  for await (const batch of work.view.scan(shares, shares.range([]))) {
    for (const { record } of batch) if (record.id === id) return record;
  }
  return undefined;
}
