import type { JSX } from "preact";
import { Confirm } from "../parts/confirm.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure } from "../parts/notices.tsx";
import type { FileEntry, FolderAddress } from "../rest/file-list.ts";
import { createFolder, renameEntry } from "../rest/file.ts";
import { copyFiles, deleteFiles, describeFiles, moveFiles, type FileBatch } from "./bulk.ts";
import { joined } from "./upload-file.ts";

export type ShareDialog =
  | { readonly kind: "new" }
  | { readonly kind: "copy" | "move" | "delete"; readonly batch: FileBatch }
  | { readonly kind: "rename"; readonly entry: FileEntry; readonly batch: FileBatch };

interface ShareDialogsProps {
  readonly dialog: ShareDialog | undefined;
  readonly address: FolderAddress;
  readonly onClose: () => void;
  readonly onReload: () => void;
}

export function ShareDialogs(props: ShareDialogsProps): JSX.Element | null {
  const { dialog, address, onClose, onReload } = props;
  switch (dialog?.kind) {
    case undefined:
      return null;
    case "new":
      return <NewFolder address={address} onClose={onClose} onDone={onReload} />;
    case "rename":
      return <Rename address={address} entry={dialog.entry} onClose={onClose} onDone={onReload} />;
    case "delete":
      return <Delete batch={dialog.batch} onClose={onClose} />;
    case "copy":
    case "move":
      return <Transfer batch={dialog.batch} isMove={dialog.kind === "move"} onClose={onClose} />;
  }
}

interface NewFolderProps {
  readonly address: FolderAddress;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NewFolder({ address, onClose, onDone }: NewFolderProps): JSX.Element {
  const create = async (values: FormData): Promise<string | undefined> => {
    const path = joined(address.folder, textIn(values, "name"));
    const result = await createFolder({ account: address.account, share: address.share, path });
    if (!result.ok) return `Name: ${describeFailure(result.failure)}`;
    onDone();
    return undefined;
  };
  return (
    <FormDialog title="New folder" action="Create" onClose={onClose} onSubmit={create}>
      <Field label="Name" name="name" required autoFocus />
    </FormDialog>
  );
}

interface RenameProps extends NewFolderProps {
  readonly entry: FileEntry;
}

function Rename({ address, entry, onClose, onDone }: RenameProps): JSX.Element {
  const { account, share, folder } = address;
  const path = joined(folder, entry.name);
  const rename = async (values: FormData): Promise<string | undefined> => {
    const to = trimmed(textIn(values, "path"));
    const isFolder = entry.kind === "folder";
    const result = await renameEntry({ account, share, path }, { to, isFolder });
    onDone();
    return result.ok ? undefined : `Path: ${describeFailure(result.failure)}`;
  };
  return (
    <FormDialog title="Rename or move" action="Rename" onClose={onClose} onSubmit={rename}>
      <Field label="Path in the share" name="path" value={path} required autoFocus />
    </FormDialog>
  );
}

interface BatchProps {
  readonly batch: FileBatch;
  readonly onClose: () => void;
}

function Delete({ batch, onClose }: BatchProps): JSX.Element {
  const { isAll, rows } = batch.selection;
  const hasFolders = isAll || rows.some(({ kind }) => kind === "folder");
  return (
    <Confirm
      title="Delete"
      text={`Delete ${describeFiles(batch)}${hasFolders ? " and everything in it" : ""}?`}
      action="Delete"
      onConfirm={() => {
        deleteFiles(batch);
        return Promise.resolve(undefined);
      }}
      onClose={onClose}
    />
  );
}

function Transfer({ batch, isMove, onClose }: BatchProps & { isMove: boolean }): JSX.Element {
  const { share, folder } = batch.address;
  const action = isMove ? "Move" : "Copy";
  const submit = (values: FormData): Promise<string | undefined> => {
    const to = {
      share: isMove ? share : textIn(values, "share").trim(),
      folder: trimmed(textIn(values, "folder")),
    };
    const isSame = to.share === share && to.folder === folder;
    if (isSame && batch.address.snapshot === undefined) {
      return Promise.resolve("Target folder: is the folder of the selection.");
    }
    if (isMove) moveFiles(batch, to.folder);
    else copyFiles(batch, to);
    return Promise.resolve(undefined);
  };
  return (
    <FormDialog
      title={`${action} ${describeFiles(batch)}`}
      action={action}
      onClose={onClose}
      onSubmit={submit}
    >
      {!isMove && <Field label="Target share" name="share" value={share} required />}
      <Field
        label="Target folder"
        name="folder"
        value={folder}
        autoFocus
        hint="Must exist; empty for the root. Existing files are not replaced"
      />
    </FormDialog>
  );
}

/** A path as typed, without slashes at its ends. */
function trimmed(path: string): string {
  return path.trim().replace(/^\/+|\/+$/g, "");
}
