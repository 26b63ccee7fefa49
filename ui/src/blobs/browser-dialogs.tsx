import type { JSX } from "preact";
import { DeleteDirectory, NewDirectory } from "../lake/path-dialogs.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";
import type { PathPlace } from "../rest/path.ts";
import type { FolderPlace } from "./blob-route.ts";
import { DeleteBlobs } from "./delete-blobs.tsx";
import { NewBlob } from "./new-blob.tsx";

export type BrowserDialog = "new" | "delete" | "new-directory" | "delete-directory";

export interface BrowserDialogsProps {
  readonly dialog: BrowserDialog | undefined;
  readonly place: FolderPlace;
  /** The selected blobs. */
  readonly entries: readonly BlobEntry[];
  /** The directory to delete. */
  readonly directory: BlobEntry | undefined;
  readonly onClose: () => void;
  readonly onReload: () => void;
  readonly onDeleted: () => void;
}

export function BrowserDialogs(props: BrowserDialogsProps): JSX.Element | null {
  const { dialog, place, entries, directory, onClose, onReload, onDeleted } = props;
  if (dialog === "new") return <NewBlob place={place} onClose={onClose} onDone={onReload} />;
  if (dialog === "delete") {
    return <DeleteBlobs place={place} entries={entries} onClose={onClose} onDone={onDeleted} />;
  }
  if (dialog === "new-directory") {
    const parent = pathPlace(place, place.prefix);
    return <NewDirectory parent={parent} onClose={onClose} onDone={onReload} />;
  }
  if (dialog !== "delete-directory" || directory === undefined) return null;
  return (
    <DeleteDirectory
      place={pathPlace(place, directory.name)}
      etag={directory.etag}
      onClose={onClose}
      onDone={onReload}
    />
  );
}

function pathPlace({ account, container }: FolderPlace, prefix: string): PathPlace {
  return { account, container, path: prefix.replace(/\/$/, "") };
}
