import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { DirectoryDetail } from "../lake/directory-detail.tsx";
import { PathActions } from "../lake/path-actions.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import { usePaged, type Paged } from "../parts/use-paged.ts";
import { listBlobs, type BlobEntry } from "../rest/blob-list.ts";
import { go } from "../route.ts";
import { DropZone } from "../upload/drop-zone.tsx";
import type { Source } from "../upload/source.ts";
import { BlobBar, type View } from "./blob-bar.tsx";
import { BlobDetail } from "./blob-detail.tsx";
import { folderRoute, type FolderPlace } from "./blob-route.ts";
import { BrowserDialogs, type BrowserDialog } from "./browser-dialogs.tsx";
import { blobColumns, entryKey } from "./columns.tsx";
import { ContainerDetail } from "./container-detail.tsx";
import { useSelection, type Selection } from "./selection.ts";
import { uploadToFolder } from "./upload-to-folder.ts";

/** Rows of the first page, which is small, so that it appears quickly. */
const firstPageRows = 200;
const pageRows = 1000;
/** What the list includes on request. Snapshots are missing, because the service rejects them
 *  together with a delimiter. */
const hidden = ["deleted", "versions", "uncommittedblobs"];

export interface BlobBrowserProps {
  readonly place: FolderPlace;
  readonly query: Readonly<Record<string, string>>;
}

function useBlobs(
  { account, container, prefix }: FolderPlace,
  { typed, isFlat, withHidden }: View,
): Paged<BlobEntry> {
  const include = withHidden ? (isFlat ? [...hidden, "snapshots"] : hidden) : [];
  return usePaged(
    (marker) =>
      listBlobs({
        account,
        container,
        prefix: prefix + typed,
        delimiter: isFlat ? undefined : "/",
        marker,
        include,
        resultsMax: marker === undefined ? firstPageRows : pageRows,
      }),
    [account, container, prefix, typed, isFlat, withHidden],
  );
}

function useDialogs(selection: Selection, isHierarchical: boolean) {
  const [dialog, setDialog] = useState<BrowserDialog>();
  const [directory, setDirectory] = useState<BlobEntry>();
  const askToDelete = (entry: BlobEntry): void => {
    if (entry.kind === "blob") {
      selection.set([entry]);
      setDialog("delete");
    } else if (isHierarchical) {
      setDirectory(entry);
      setDialog("delete-directory");
    }
  };
  return { dialog, setDialog, directory, askToDelete };
}

export function BlobBrowser({ place, query }: BlobBrowserProps): JSX.Element {
  const [view, setView] = useState<View>({ typed: "", isFlat: false, withHidden: false });
  const isHierarchical = useHierarchical(place.account);
  const selection = useSelection();
  const { dialog, setDialog, directory, askToDelete } = useDialogs(selection, isHierarchical);
  const { list, reload } = useBlobs(place, view);
  const upload = (sources: readonly Source[]): void => uploadToFolder(place, sources, reload);
  const actions = isHierarchical ? [actionColumn(place, reload)] : [];
  const deleted = (): void => {
    selection.set([]);
    reload();
  };
  return (
    <>
      <BlobBar
        place={place}
        view={view}
        onView={(change) => setView((before) => ({ ...before, ...change }))}
        selectedCount={selection.entries.length}
        onNew={() => setDialog("new")}
        onNewDirectory={isHierarchical ? () => setDialog("new-directory") : undefined}
        onDelete={() => setDialog("delete")}
        onUpload={upload}
        onRefresh={reload}
      />
      <div class="work">
        <DropZone hint={`Drop to upload into ${place.container}/${place.prefix}`} onDrop={upload}>
          <Listing
            label={`Blobs in ${place.container}`}
            list={list}
            prefix={view.typed}
            empty="No blobs. Drop files or folders here to upload them."
            columns={[...blobColumns({ ...selection, prefix: place.prefix }), ...actions]}
            keyOf={entryKey}
            selected={selection.keys}
            active={activeKey(query)}
            rowClass={({ isDeleted }) => (isDeleted ? "gone" : "")}
            onOpen={(entry) => open(place, entry)}
            onToggle={selection.toggle}
            onDelete={askToDelete}
          />
        </DropZone>
        <Beside place={place} query={query} onChanged={reload} />
      </div>
      <BrowserDialogs
        dialog={dialog}
        place={place}
        entries={selection.entries}
        directory={directory}
        onClose={() => setDialog(undefined)}
        onReload={reload}
        onDeleted={deleted}
      />
    </>
  );
}

interface BesideProps extends BlobBrowserProps {
  readonly onChanged: () => void;
}

/** Details of the container or blob in the address. */
function Beside({ place, query, onChanged }: BesideProps): JSX.Element | null {
  const { blob: name, snapshot, version } = query;
  if (query["details"] !== undefined) return <ContainerDetail folder={place} />;
  const { directory } = query;
  if (directory !== undefined) {
    return (
      <DirectoryDetail key={directory} folder={place} path={directory} onChanged={onChanged} />
    );
  }
  if (name === undefined) return null;
  return (
    <BlobDetail
      key={`${name}${snapshot ?? ""}${version ?? ""}`}
      folder={place}
      blob={{ name, snapshot, version }}
      onChanged={onChanged}
    />
  );
}

function actionColumn(place: FolderPlace, onChanged: () => void): Column<BlobEntry> {
  return {
    title: "Actions",
    isTitleHidden: true,
    width: "7.5rem",
    align: "end",
    cell: (entry) => <PathActions folder={place} entry={entry} onChanged={onChanged} />,
  };
}

function activeKey(query: Readonly<Record<string, string>>): string | undefined {
  if (query["directory"] !== undefined) return `${query["directory"]}/\n\n\n`;
  if (query["blob"] === undefined) return undefined;
  return `${query["blob"]}\n${query["snapshot"] ?? ""}\n${query["version"] ?? ""}\n`;
}

function open(place: FolderPlace, entry: BlobEntry): void {
  if (entry.kind === "folder") go(folderRoute({ ...place, prefix: entry.name }));
  else {
    const version = entry.isCurrentVersion ? undefined : entry.version;
    go(folderRoute(place, { name: entry.name, snapshot: entry.snapshot, version }));
  }
}
