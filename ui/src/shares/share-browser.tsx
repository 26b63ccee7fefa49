import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { UploadButtons } from "../blobs/upload-buttons.tsx";
import { bytes, moment } from "../format.ts";
import { useAbilities } from "../parts/abilities.ts";
import { namedPages, sortedPage } from "../parts/arranged-pages.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs, type Crumb } from "../parts/crumbs.tsx";
import { Filter, useFilter } from "../parts/filter.tsx";
import { EntryName } from "../parts/entry-name.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import type { NameFilter } from "../parts/name-filter.ts";
import { report } from "../parts/notices.tsx";
import { SelectionBar } from "../parts/selection-bar.tsx";
import { isAlone, useSelection } from "../parts/selection.ts";
import { comparison, useSorting, type SortKeys } from "../parts/sorting.ts";
import { Badge } from "../parts/states.tsx";
import { useFollowing } from "../parts/use-following.ts";
import { useMenu } from "../parts/use-menu.tsx";
import { usePaged } from "../parts/use-paged.ts";
import { listFolder, type FileEntry, type FolderAddress } from "../rest/file-list.ts";
import { snapshotShare } from "../rest/file.ts";
import { formatRoute, go } from "../route.ts";
import { DropZone } from "../upload/drop-zone.tsx";
import type { Source } from "../upload/source.ts";
import type { FileBatch } from "./bulk.ts";
import { fileActions, fileBatchActions } from "./file-actions.ts";
import { FileDetail } from "./file-detail.tsx";
import { ShareDialogs, type ShareDialog } from "./share-dialogs.tsx";
import { shareRoute } from "./share-route.ts";
import { joined, uploadFilesInto } from "./upload-file.ts";

interface ShareBrowserProps {
  readonly address: FolderAddress;
  readonly shown: string | undefined;
}

const sortKeys: SortKeys<FileEntry> = {
  Name: ({ name }) => name,
  Size: ({ length = -1 }) => length,
  Written: ({ lastWriteAt }) => Date.parse(lastWriteAt) || 0,
};

function useFiles(address: FolderAddress, filter: NameFilter) {
  const { account, share, folder, snapshot } = address;
  const sorting = useSorting(Object.keys(sortKeys));
  const sort = sorting.present;
  const inputs = [account, share, folder, snapshot, filter];
  const fetchPage = useMemo(
    () => namedPages(filter, (prefix, marker) => listFolder(address, { prefix, marker })),
    inputs,
  );
  const compare = sort && comparison(sortKeys, sort, ({ kind }) => (kind === "folder" ? 0 : 1));
  const paged = usePaged(compare === undefined ? fetchPage : sortedPage(fetchPage, compare), [
    ...inputs,
    sort,
  ]);
  const isStale = useFollowing({
    ...paged,
    isAbout: (change) =>
      change.service === "file" &&
      change.account === account &&
      change.container === share &&
      change.path?.startsWith(folder) === true,
  });
  return { ...paged, isStale, sorting, fetchPage };
}

/** The selected rows, the dialogs, and the commands for a row or for the selection. */
function useCommands(
  address: FolderAddress,
  filter: NameFilter,
  files: ReturnType<typeof useFiles>,
) {
  const { fetchPage, reload } = files;
  const abilities = useAbilities();
  const [dialog, onDialog] = useState<ShareDialog>();
  const selection = useSelection<FileEntry>(({ name }) => name, [address.folder, filter]);
  const onDone = (): void => {
    selection.clear();
    reload();
  };
  const base = { address, fetchPage, onDone };
  const selected: FileBatch = { ...base, selection };
  const batchOf = (entry: FileEntry): FileBatch => ({
    ...base,
    selection: { isAll: false, rows: [entry], has: (row) => row === entry },
  });
  const isWritable = address.snapshot === undefined;
  return {
    selection,
    dialog,
    onDialog,
    actionsOf: (entry: FileEntry, onOpen: () => void) =>
      isAlone(selection, entry)
        ? fileActions({ batch: batchOf(entry), onDialog }, entry, onOpen)
        : fileBatchActions({ batch: selected, onDialog }),
    selectedActions: fileBatchActions({ batch: selected, onDialog }),
    askToDelete: (entry: FileEntry): void => {
      const batch = selection.has(entry) ? selected : batchOf(entry);
      if (isWritable && abilities.delete) onDialog({ kind: "delete", batch });
    },
    rename: (entry: FileEntry): void => {
      if (!isWritable || !abilities.move) return;
      onDialog({ kind: "rename", entry, batch: batchOf(entry) });
    },
  };
}

/** Shows a folder of a share, with the details of one file beside it. */
export function ShareBrowser({ address, shown }: ShareBrowserProps): JSX.Element {
  const { account, share, folder, snapshot } = address;
  const filter = useFilter();
  const files = useFiles(address, filter);
  const { reload } = files;
  const commands = useCommands(address, filter, files);
  const upload = (sources: readonly Source[]): void => uploadFilesInto(address, sources, reload);
  return (
    <>
      <ShareBar
        address={address}
        onRefresh={reload}
        onNew={() => commands.onDialog({ kind: "new" })}
        onUpload={upload}
      />
      <SelectionBar
        selection={commands.selection}
        sizeOf={({ length }) => length}
        actions={commands.selectedActions}
      />
      <div class="work">
        <DropZone hint={`Drop to upload into ${share}/${folder}`} onDrop={upload}>
          <Files
            address={address}
            shown={shown}
            filter={filter}
            files={files}
            commands={commands}
          />
        </DropZone>
        {shown !== undefined && (
          <FileDetail
            key={shown}
            address={{ account, share, path: shown, snapshot }}
            onClose={() => go(shareRoute(address))}
          />
        )}
      </div>
      <ShareDialogs
        dialog={commands.dialog}
        address={address}
        onClose={() => commands.onDialog(undefined)}
        onReload={reload}
      />
    </>
  );
}

interface FilesProps extends ShareBrowserProps {
  readonly filter: NameFilter;
  readonly files: ReturnType<typeof useFiles>;
  readonly commands: ReturnType<typeof useCommands>;
}

function Files({ address, shown, filter, files, commands }: FilesProps): JSX.Element {
  const { share, folder } = address;
  const { write } = useAbilities();
  const { open: openMenu, menu } = useMenu();
  const open = ({ kind, name }: FileEntry): void => {
    const path = joined(folder, name);
    go(kind === "folder" ? shareRoute({ ...address, folder: path }) : shareRoute(address, path));
  };
  return (
    <>
      <Listing
        label={`Files in ${share}`}
        list={files.list}
        filter={filter}
        onRefresh={files.isStale ? files.reload : undefined}
        empty={`No files.${write ? " Drop files or folders here to upload them." : ""}`}
        columns={columns}
        keyOf={({ name }) => joined(folder, name)}
        nameOf={({ name }) => name}
        selection={commands.selection}
        sorting={files.sorting}
        active={shown}
        onOpen={open}
        onDelete={commands.askToDelete}
        onRename={commands.rename}
        onMenu={(entry, at) =>
          openMenu({
            label: entry.name,
            at,
            items: commands.actionsOf(entry, () => open(entry)),
          })
        }
      />
      {menu}
    </>
  );
}

interface ShareBarProps {
  readonly address: FolderAddress;
  readonly onRefresh: () => void;
  readonly onNew: () => void;
  readonly onUpload: (sources: readonly Source[]) => void;
}

function ShareBar({ address, onRefresh, onNew, onUpload }: ShareBarProps): JSX.Element {
  const { account, share, folder, snapshot } = address;
  return (
    <div class="bar">
      <Crumbs crumbs={crumbsOf(address)} />
      {snapshot !== undefined && <Badge tone="accent">snapshot {moment(snapshot)}</Badge>}
      <Filter key={folder} />
      <Button icon="refresh" label="Refresh" onClick={onRefresh} />
      {snapshot === undefined && (
        <>
          <SnapshotButton account={account} share={share} />
          <span data-new>
            <Button icon="plus" needs="write" onClick={onNew}>
              New folder
            </Button>
          </span>
          <UploadButtons onChoose={onUpload} />
        </>
      )}
    </div>
  );
}

interface SnapshotButtonProps {
  readonly account: string;
  readonly share: string;
}

function SnapshotButton({ account, share }: SnapshotButtonProps): JSX.Element {
  const take = async (): Promise<void> => {
    report(await snapshotShare(account, share), "Snapshot created; see the list of shares");
  };
  return <Button icon="camera" label="Snapshot share" needs="manage" onClick={() => void take()} />;
}

const columns: readonly Column<FileEntry>[] = [
  {
    title: "Name",
    width: "minmax(0, 3fr)",
    cell: ({ kind, name }) => <EntryName icon={kind} text={name} isFolder={kind === "folder"} />,
  },
  {
    title: "Size",
    width: "6rem",
    align: "end",
    isMinor: "last",
    cell: ({ length }) => bytes(length),
  },
  {
    title: "Written",
    width: "11rem",
    isMinor: true,
    cell: ({ lastWriteAt }) => <span class="soft">{moment(lastWriteAt)}</span>,
  },
];

function crumbsOf(address: FolderAddress): readonly Crumb[] {
  const parts = address.folder.split("/").filter((part) => part !== "");
  const folders = parts.map((words, index) => ({
    words,
    href: shareRoute({ ...address, folder: parts.slice(0, index + 1).join("/") }),
  }));
  const all: readonly Crumb[] = [
    { words: "Shares", href: formatRoute("shares", [address.account]) },
    { words: address.share, href: shareRoute({ ...address, folder: "" }) },
    ...folders,
  ];
  return all.map((crumb, index) => (index === all.length - 1 ? { words: crumb.words } : crumb));
}
