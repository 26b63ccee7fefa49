import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { NewDirectory, RenameDialog } from "../lake/path-dialogs.tsx";
import { AccountChoice } from "../parts/account-choice.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Check, Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { NamePicker } from "../parts/name-picker.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";
import type { PathAddress } from "../rest/path.ts";
import type { FolderAddress } from "./blob-route.ts";
import { describeBatch, placeOf, transferBatch, type BlobBatch } from "./bulk.ts";
import { CopyDialog } from "./copy-dialog.tsx";
import { DeleteDialog } from "./delete-dialog.tsx";
import { NewBlob } from "./new-blob.tsx";

export type BrowserDialog =
  | { readonly kind: "new" | "new-directory" | "columns" }
  | { readonly kind: "delete"; readonly batch: BlobBatch }
  | { readonly kind: "transfer"; readonly action: "Copy" | "Move"; readonly batch: BlobBatch }
  | { readonly kind: "rename"; readonly entry: BlobEntry; readonly batch: BlobBatch };

interface BrowserDialogsProps {
  readonly dialog: BrowserDialog | undefined;
  readonly address: FolderAddress;
  readonly onClose: () => void;
  readonly onReload: () => void;
}

export function BrowserDialogs(props: BrowserDialogsProps): JSX.Element | null {
  const { dialog, address, onClose, onReload } = props;
  switch (dialog?.kind) {
    case undefined:
    case "columns":
      return null;
    case "new":
      return <NewBlob address={address} onClose={onClose} onDone={onReload} />;
    case "new-directory": {
      const parent = pathAddress(address, address.prefix);
      return <NewDirectory parent={parent} onClose={onClose} onDone={onReload} />;
    }
    case "delete":
      return <DeleteDialog batch={dialog.batch} onClose={onClose} />;
    case "transfer":
      return <TransferDialog {...dialog} onClose={onClose} />;
    case "rename":
      return <RenameEntry {...dialog} onClose={onClose} onDone={onReload} />;
  }
}

function pathAddress({ account, container }: FolderAddress, prefix: string): PathAddress {
  return { account, container, path: prefix.replace(/\/$/, "") };
}

interface BatchDialogProps {
  readonly batch: BlobBatch;
  readonly onClose: () => void;
}

interface TransferDialogProps extends BatchDialogProps {
  readonly action: "Copy" | "Move";
}

function TransferDialog({ batch, action, onClose }: TransferDialogProps): JSX.Element {
  const { container, prefix } = batch.address;
  const [account, setAccount] = useState(batch.address.account);
  const submit = (values: FormData): Promise<string | undefined> => {
    const folder = textIn(values, "folder").replace(/^\/+|\/+$/g, "");
    const to = {
      account,
      container: textIn(values, "container").trim(),
      prefix: folder === "" ? "" : `${folder}/`,
      mayReplace: values.has("overwrite"),
    };
    const isHere = account === batch.address.account && to.container === container;
    const isSame = isHere && to.prefix === prefix;
    if (isSame) return Promise.resolve("Target folder: is the folder of the selection.");
    transferBatch(batch, to, action);
    return Promise.resolve(undefined);
  };
  return (
    <FormDialog
      title={`${action} ${describeBatch(batch)}`}
      action={action}
      onClose={onClose}
      onSubmit={submit}
    >
      <AccountChoice value={account} onChange={setAccount} />
      <NamePicker
        label="Target container"
        name="container"
        account={account}
        service="blob"
        value={container}
      />
      <Field
        label="Target folder"
        name="folder"
        value={prefix}
        autoFocus
        hint="Empty for the container itself; missing folders are created"
      />
      <Check name="overwrite">Overwrite existing blobs</Check>
    </FormDialog>
  );
}

interface RenameEntryProps extends BatchDialogProps {
  readonly entry: BlobEntry;
  readonly onDone: () => void;
}

function RenameEntry({ entry, batch, onClose, onDone }: RenameEntryProps): JSX.Element {
  const { address, isHierarchical } = batch;
  if (isHierarchical) {
    const path = pathAddress(address, entry.name);
    return <RenameDialog address={path} etag={entry.etag} onClose={onClose} onDone={onDone} />;
  }
  if (entry.kind === "folder") {
    return <RenameFolder entry={entry} batch={batch} onClose={onClose} />;
  }
  const tier = entry.isTierInferred ? undefined : entry.tier || undefined;
  const from = { ...placeOf(address, entry), etag: entry.etag, tier };
  return <CopyDialog from={from} action="Rename" onClose={onClose} onDone={onDone} />;
}

/** A folder of a flat account is a prefix of names, so that each blob below it is renamed. */
function RenameFolder({ entry, batch, onClose }: Omit<RenameEntryProps, "onDone">): JSX.Element {
  const submit = (values: FormData): Promise<string | undefined> => {
    const folder = textIn(values, "folder").replace(/^\/+|\/+$/g, "");
    if (`${folder}/` === entry.name) return Promise.resolve("Folder: has this name already.");
    if (folder === "") return Promise.resolve("Folder: is empty.");
    const address = { ...batch.address, prefix: entry.name };
    const { account, container } = address;
    transferBatch(
      { ...batch, address },
      { account, container, prefix: `${folder}/`, mayReplace: false },
      "Move",
    );
    return Promise.resolve(undefined);
  };
  return (
    <FormDialog title={`Rename ${entry.name}`} action="Rename" onClose={onClose} onSubmit={submit}>
      <Field
        label="Folder"
        name="folder"
        value={entry.name.slice(0, -1)}
        required
        autoFocus
        hint="Every blob in the folder is renamed; existing blobs are not replaced"
      />
    </FormDialog>
  );
}
