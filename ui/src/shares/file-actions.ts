import { copyUrl } from "../parts/copy-url.ts";
import type { MenuItem } from "../parts/menu.tsx";
import type { FileEntry } from "../rest/file-list.ts";
import { countFiles, zipFiles, type FileBatch } from "./bulk.ts";
import { downloadFile } from "./download-file.ts";
import type { ShareDialog } from "./share-dialogs.tsx";
import { joined } from "./upload-file.ts";

interface FileActionContext {
  readonly batch: FileBatch;
  readonly onDialog: (dialog: ShareDialog) => void;
}

/** The commands for the selected rows. A share snapshot can be copied from, but not changed. */
export function fileBatchActions({ batch, onDialog }: FileActionContext): readonly MenuItem[] {
  const zip: MenuItem = {
    label: "Download zip",
    icon: "download",
    needs: "read",
    run: () => zipFiles(batch),
  };
  const copy: MenuItem = {
    label: "Copy to…",
    icon: "copy",
    needs: "copy",
    run: () => onDialog({ kind: "copy", batch }),
  };
  const count: MenuItem = {
    label: "Count",
    icon: "count",
    needs: "read",
    run: () => countFiles(batch),
  };
  if (batch.address.snapshot !== undefined) return [zip, copy, count];
  const move: MenuItem = {
    label: "Move to…",
    icon: "rename",
    needs: "move",
    run: () => onDialog({ kind: "move", batch }),
  };
  return [zip, copy, move, count, deletion({ batch, onDialog })];
}

function deletion({ batch, onDialog }: FileActionContext): MenuItem {
  return {
    label: "Delete",
    icon: "trash",
    needs: "delete",
    isDangerous: true,
    run: () => onDialog({ kind: "delete", batch }),
  };
}

/** The commands for one row. */
export function fileActions(
  context: FileActionContext,
  entry: FileEntry,
  onOpen: () => void,
): readonly MenuItem[] {
  const { batch, onDialog } = context;
  const { account, share, folder, snapshot } = batch.address;
  const path = joined(folder, entry.name);
  const open: MenuItem = { label: "Open", icon: "file", needs: "read", run: onOpen };
  const url: MenuItem = {
    label: "Copy URL",
    icon: "link",
    needs: "read",
    run: () => void copyUrl("file", account, [share, path]),
  };
  const toRename: MenuItem = {
    label: "Rename",
    icon: "edit",
    needs: "move",
    run: () => onDialog({ kind: "rename", entry, batch }),
  };
  const rename = snapshot === undefined ? [toRename] : [];
  if (entry.kind === "folder") return [open, url, ...rename, ...fileBatchActions(context)];
  const save: MenuItem = {
    label: "Download",
    icon: "download",
    needs: "read",
    run: () => void downloadFile({ account, share, path, snapshot }),
  };
  const more = fileBatchActions(context).filter(({ label }) => /^(Copy|Move|Delete)/.test(label));
  return [open, save, url, ...rename, ...more];
}
