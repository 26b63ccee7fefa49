import type { JSX } from "preact";
import { plural } from "../format.ts";
import { Confirm } from "../parts/confirm.tsx";
import { describeFailure } from "../parts/notices.tsx";
import { deleteBlob } from "../rest/blob-actions.ts";
import type { BlobEntry } from "../rest/blob-list.ts";
import type { FolderPlace } from "./blob-route.ts";

export interface DeleteBlobsProps {
  readonly place: FolderPlace;
  readonly entries: readonly BlobEntry[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Deletes the blobs with If-Match on the listed ETags: blobs changed since then are kept. */
export function DeleteBlobs({ place, entries, onClose, onDone }: DeleteBlobsProps): JSX.Element {
  const first = entries[0]?.name ?? "";
  const what = entries.length === 1 ? first : plural(entries.length, "blob");
  const remove = async (): Promise<string | undefined> => {
    let wrong: string | undefined;
    for (const { name, snapshot, version, etag, isCurrentVersion } of entries) {
      const state = { name, snapshot, version: isCurrentVersion ? undefined : version };
      const isBase = snapshot === undefined && isCurrentVersion;
      const condition = isBase ? { ifMatch: etag } : {};
      const result = await deleteBlob({ ...place, ...state }, { condition });
      if (!result.ok) wrong = `${name}: ${describeFailure(result.failure)}`;
    }
    onDone();
    return wrong;
  };
  return (
    <Confirm
      title="Delete"
      text={`Delete ${what}, with snapshots?`}
      action="Delete"
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
