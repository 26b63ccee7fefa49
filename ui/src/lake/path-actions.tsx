import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { directoryRoute, type FolderPlace } from "../blobs/blob-route.ts";
import { Button } from "../parts/button.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";
import { go } from "../route.ts";
import { DeleteDirectory, RenameDialog } from "./path-dialogs.tsx";

export interface PathActionsProps {
  readonly folder: FolderPlace;
  readonly entry: BlobEntry;
  readonly onChanged: () => void;
}

/** Buttons of one row in a hierarchical account. */
export function PathActions({ folder, entry, onChanged }: PathActionsProps): JSX.Element {
  const [dialog, setDialog] = useState<"rename" | "delete">();
  const isDirectory = entry.kind === "folder";
  const path = isDirectory ? entry.name.slice(0, -1) : entry.name;
  const name = path.split("/").at(-1) ?? path;
  const place = { account: folder.account, container: folder.container, path };
  const close = (): void => setDialog(undefined);
  return (
    <>
      {isDirectory && (
        <>
          <Button
            kind="quiet"
            icon="lock"
            label={`Details of ${name}`}
            onClick={() => go(directoryRoute(folder, path))}
          />
          <Button
            kind="quiet"
            icon="trash"
            label={`Delete ${name}`}
            onClick={() => setDialog("delete")}
          />
        </>
      )}
      <Button
        kind="quiet"
        icon="rename"
        label={`Rename ${name}`}
        onClick={() => setDialog("rename")}
      />
      {dialog === "rename" && (
        <RenameDialog place={place} etag={entry.etag} onClose={close} onDone={onChanged} />
      )}
      {dialog === "delete" && (
        <DeleteDirectory place={place} etag={entry.etag} onClose={close} onDone={onChanged} />
      )}
    </>
  );
}
