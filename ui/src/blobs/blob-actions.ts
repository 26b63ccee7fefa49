import { bytes, plural } from "../format.ts";
import { copyUrl } from "../parts/copy-url.ts";
import type { MenuItem } from "../parts/menu.tsx";
import { report } from "../parts/notices.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";
import { copyBlobState } from "../rest/blob-move.ts";
import { go } from "../route.ts";
import { directoryRoute } from "./blob-route.ts";
import type { BrowserDialog } from "./browser-dialogs.tsx";
import { blobPages, countBatch, placeOf, undeleteBatch, zipBatch, type BlobBatch } from "./bulk.ts";
import { keepOnClipboard } from "./clipboard.ts";
import { download } from "./download.ts";

interface ActionContext {
  readonly batch: BlobBatch;
  readonly onDialog: (dialog: BrowserDialog) => void;
}

/** The commands for the selected rows. */
export function batchActions({ batch, onDialog }: ActionContext): readonly MenuItem[] {
  return [
    { label: "Download zip", icon: "download", needs: "read", run: () => zipBatch(batch) },
    {
      label: "Copy to…",
      icon: "copy",
      needs: "copy",
      run: () => onDialog({ kind: "transfer", action: "Copy", batch }),
    },
    {
      label: "Move to…",
      icon: "rename",
      needs: "move",
      run: () => onDialog({ kind: "transfer", action: "Move", batch }),
    },
    {
      label: "Copy",
      icon: "copy",
      needs: "copy",
      run: () => keepOnClipboard(batch, "Copy"),
    },
    {
      label: "Cut",
      icon: "cut",
      needs: "move",
      run: () => keepOnClipboard(batch, "Move"),
    },
    {
      label: "Count",
      icon: "count",
      needs: "read",
      run: () => countBatch(batch, describeCount),
    },
    deletion({ batch, onDialog }),
  ];
}

function describeCount(blobs: number, size: number): string {
  return `${plural(blobs, "blob")}, ${bytes(size)}`;
}

/** Counts all blobs of a container. */
export function countContainer(account: string, container: string): void {
  const address = { account, container, prefix: "" };
  const batch: BlobBatch = {
    address,
    selection: { isAll: true, rows: [], has: () => true },
    fetchPage: blobPages(address),
    isHierarchical: false,
    onDone: () => {},
  };
  countBatch(batch, describeCount);
}

function deletion({ batch, onDialog }: ActionContext): MenuItem {
  return {
    label: "Delete",
    icon: "trash",
    needs: "delete",
    isDangerous: true,
    run: () => onDialog({ kind: "delete", batch }),
  };
}

/** The commands for one row. */
export function entryActions(
  context: ActionContext,
  entry: BlobEntry,
  onOpen: () => void,
): readonly MenuItem[] {
  const { batch, onDialog } = context;
  const { address } = batch;
  const open: MenuItem = { label: "Open", icon: "file", needs: "read", run: onOpen };
  if (entry.isDeleted) {
    const run = (): void => undeleteBatch(batch);
    return [open, { label: "Undelete", icon: "restore", needs: "write", run }];
  }
  const url: MenuItem = {
    label: "Copy URL",
    icon: "link",
    needs: "read",
    run: () => void copyUrl("blob", address.account, [address.container, entry.name]),
  };
  const isBase = entry.snapshot === undefined && entry.isCurrentVersion;
  const restore: MenuItem = {
    label: "Make current",
    icon: "restore",
    needs: "write",
    run: () => void makeCurrent(batch, entry),
  };
  const rename: MenuItem = {
    label: "Rename",
    icon: "edit",
    needs: "move",
    run: () => onDialog({ kind: "rename", entry, batch }),
  };
  if (entry.kind === "folder") {
    const details: MenuItem = {
      label: "Details",
      icon: "lock",
      needs: "read",
      run: () => go(directoryRoute(address, entry.name.slice(0, -1))),
    };
    return [open, ...(batch.isHierarchical ? [details] : []), rename, ...batchActions(context)];
  }
  const save: MenuItem = {
    label: "Download",
    icon: "download",
    needs: "read",
    run: () => void download(placeOf(address, entry)),
  };
  const wanted = isBase ? /^(Copy|Move|Cut)/ : /^Copy/;
  const transfers = batchActions(context).filter(({ label }) => wanted.test(label));
  return [open, save, url, isBase ? rename : restore, ...transfers, deletion(context)];
}

/** Copies a snapshot or version over the present state of its blob, or creates the blob again. */
async function makeCurrent({ address, onDone }: BlobBatch, entry: BlobEntry): Promise<void> {
  const { account, container } = address;
  const from = { ...placeOf(address, entry), etag: entry.etag };
  const result = await copyBlobState(
    from,
    { account, container, name: entry.name },
    { mayReplace: true },
  );
  if (report(result, "This state is the current one")) onDone();
}
