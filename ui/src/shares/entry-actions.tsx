import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import { describeFailure } from "../parts/notices.tsx";
import type { FileEntry, FolderPlace } from "../rest/file-list.ts";
import { deleteEntry, renameEntry } from "../rest/file.ts";
import { joined } from "./upload-file.ts";

export interface EntryActionsProps {
  readonly folder: FolderPlace;
  readonly entry: FileEntry;
  readonly onChanged: () => void;
}

/** The buttons that rename and delete a file or directory, with their dialogs. */
export function EntryActions({ folder, entry, onChanged }: EntryActionsProps): JSX.Element {
  const [dialog, setDialog] = useState<"rename" | "delete">();
  const { account, share } = folder;
  const path = joined(folder.folder, entry.name);
  const isFolder = entry.kind === "folder";
  const place = { account, share, path };
  const remove = async (): Promise<string | undefined> => {
    const result = await deleteEntry(place, isFolder);
    onChanged();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  const rename = async (values: FormData): Promise<string | undefined> => {
    const result = await renameEntry(place, { to: textIn(values, "path"), isFolder });
    onChanged();
    return result.ok ? undefined : describeFailure(result.failure);
  };
  const close = (): void => setDialog(undefined);
  return (
    <>
      <Button
        kind="quiet"
        icon="rename"
        label={`Rename ${entry.name}`}
        onClick={() => setDialog("rename")}
      />
      <Button
        kind="quiet"
        icon="trash"
        label={`Delete ${entry.name}`}
        onClick={() => setDialog("delete")}
      />
      {dialog === "delete" && (
        <Confirm
          title="Delete"
          text={isFolder ? `Delete the empty folder ${path}?` : `Delete ${path}?`}
          action="Delete"
          onConfirm={remove}
          onClose={close}
        />
      )}
      {dialog === "rename" && (
        <FormDialog title="Rename or move" action="Rename" onClose={close} onSubmit={rename}>
          <Field label="Path in the share" name="path" value={path} required autoFocus />
        </FormDialog>
      )}
    </>
  );
}
