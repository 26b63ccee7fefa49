import { plural } from "../format.ts";
import { notify } from "../parts/notices.tsx";
import { createStore } from "../store.ts";
import type { FolderAddress } from "./blob-route.ts";
import { describeBatch, transferBatch, type BlobBatch } from "./bulk.ts";

interface Clipboard {
  readonly batch: BlobBatch;
  readonly action: "Copy" | "Move";
}

/** The blobs that were copied or cut; pasted into another folder of any account. */
export const clipboard = createStore<Clipboard | undefined>(undefined);

export function keepOnClipboard(batch: BlobBatch, action: Clipboard["action"]): void {
  clipboard.set({ batch, action });
  const { isAll, rows } = batch.selection;
  const what = isAll ? describeBatch(batch) : plural(rows.length, "entry", "entries");
  notify("good", `${action === "Copy" ? "Copied" : "Cut"} ${what}: open another folder to paste`);
}

/** Starts the copy or move of what is on the clipboard. Existing blobs are not replaced. */
export function pasteInto(folder: FolderAddress, onDone: () => void): void {
  const kept = clipboard.get();
  if (kept === undefined) return;
  const { batch, action } = kept;
  const { address } = batch;
  const isSame =
    folder.account === address.account &&
    folder.container === address.container &&
    folder.prefix === address.prefix;
  if (isSame) return notify("bad", "The entries are in this folder already");
  if (action === "Move") clipboard.set(undefined);
  transferBatch({ ...batch, onDone }, { ...folder, mayReplace: false }, action);
}

/** Moves or copies rows into a folder beside them. */
export function dropInto(batch: BlobBatch, prefix: string, action: Clipboard["action"]): void {
  const { account, container } = batch.address;
  const isOwn = batch.selection.rows.some(({ name }) => name === prefix);
  if (isOwn) return notify("bad", "A folder cannot be moved into itself");
  transferBatch(batch, { account, container, prefix, mayReplace: false }, action);
}
