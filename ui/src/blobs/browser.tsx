import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { DirectoryDetail } from "../lake/directory-detail.tsx";
import { useAbilities } from "../parts/abilities.ts";
import { Listing } from "../parts/listing.tsx";
import { ColumnDialog, useColumns } from "../parts/column-dialog.tsx";
import { useFilter } from "../parts/filter.tsx";
import { SelectionBar } from "../parts/selection-bar.tsx";
import { isAlone, useSelection } from "../parts/selection.ts";
import { useMenu } from "../parts/use-menu.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";
import { go, useQueryValue } from "../route.ts";
import { useStore } from "../store.ts";
import { DropZone } from "../upload/drop-zone.tsx";
import type { Source } from "../upload/source.ts";
import { batchActions, entryActions } from "./blob-actions.ts";
import { BlobBar } from "./blob-bar.tsx";
import { BlobDetail } from "./blob-detail.tsx";
import { folderRoute, type FolderAddress } from "./blob-route.ts";
import { BrowserDialogs, type BrowserDialog } from "./browser-dialogs.tsx";
import type { BlobBatch } from "./bulk.ts";
import { clipboard, dropInto, keepOnClipboard, pasteInto } from "./clipboard.ts";
import { blobColumns, defaultColumns, entryKey, entryWords } from "./columns.tsx";
import { ContainerDetail } from "./container-detail.tsx";
import { uploadToFolder } from "./upload-to-folder.ts";
import { useBlobList, type BlobList, type View } from "./use-blob-list.ts";

interface BlobBrowserProps {
  readonly address: FolderAddress;
  readonly query: Readonly<Record<string, string>>;
}

/** The selected rows, the dialogs, and the commands for a row or for the selection. */
function useCommands(address: FolderAddress, view: View, { fetchPage, reload }: BlobList) {
  const isHierarchical = useHierarchical(address.account);
  const abilities = useAbilities();
  const [dialog, onDialog] = useState<BrowserDialog>();
  const selection = useSelection(entryKey, [address.account, address.prefix, view]);
  const onDone = (): void => {
    selection.clear();
    reload();
  };
  const base = { address, fetchPage, isHierarchical, onDone };
  const selected: BlobBatch = { ...base, selection };
  const batchOf = (entry: BlobEntry): BlobBatch => ({
    ...base,
    selection: { isAll: false, rows: [entry], has: (row) => row === entry },
  });
  const actionsOf = (entry: BlobEntry) =>
    isAlone(selection, entry)
      ? entryActions({ batch: batchOf(entry), onDialog }, entry, () => open(address, entry))
      : batchActions({ batch: selected, onDialog });
  return {
    isHierarchical,
    emptyText: `No blobs.${abilities.write ? " Drop files or folders here to upload them." : ""}`,
    selection,
    dialog,
    onDialog,
    actionsOf,
    selectedActions: batchActions({ batch: selected, onDialog }),
    askToDelete: (entry: BlobEntry): void => {
      const batch = selection.has(entry) ? selected : batchOf(entry);
      if (!entry.isDeleted && abilities.delete) onDialog({ kind: "delete", batch });
    },
    take: (entry: BlobEntry, action: "Copy" | "Move"): void => {
      const isAllowed = action === "Copy" ? abilities.copy : abilities.move;
      if (isAllowed) keepOnClipboard(selection.has(entry) ? selected : batchOf(entry), action);
    },
    drop: (entry: BlobEntry, target: BlobEntry, isCopy: boolean): void => {
      const batch = selection.has(entry) ? selected : batchOf(entry);
      dropInto(batch, target.name, isCopy ? "Copy" : "Move");
    },
    mayMove: abilities.move,
    rename: (entry: BlobEntry): void => {
      const isBase = entry.snapshot === undefined && entry.isCurrentVersion;
      if (!isBase || entry.isDeleted || !abilities.move) return;
      onDialog({ kind: "rename", entry, batch: batchOf(entry) });
    },
  };
}

/** What the address says about the list. */
function useView(withMetadata: boolean): View {
  const filter = useFilter();
  const isFlat = useQueryValue("flat")[0] !== "";
  const withHidden = useQueryValue("history")[0] !== "";
  return useMemo(
    () => ({ filter, isFlat, withHidden, withMetadata }),
    [filter, isFlat, withHidden, withMetadata],
  );
}

export function BlobBrowser({ address, query }: BlobBrowserProps): JSX.Element {
  const columns = useColumns("blobs", defaultColumns);
  const view = useView(columns.chosen.includes("Metadata"));
  const blobs = useBlobList(address, view);
  const commands = useCommands(address, view, blobs);
  const { selection, dialog, onDialog } = commands;
  const upload = (from: readonly Source[]): void => uploadToFolder(address, from, blobs.reload);
  const paste = (): void => pasteInto(address, blobs.reload);
  const { container, prefix } = address;
  return (
    <>
      <BlobBar
        address={address}
        view={view}
        onColumns={() => onDialog({ kind: "columns" })}
        onNew={() => onDialog({ kind: "new" })}
        onNewDirectory={
          commands.isHierarchical ? () => onDialog({ kind: "new-directory" }) : undefined
        }
        onUpload={upload}
        onPaste={useStore(clipboard) === undefined ? undefined : paste}
        onRefresh={blobs.reload}
      />
      <SelectionBar
        selection={selection}
        sizeOf={({ length }) => length}
        actions={commands.selectedActions}
      />
      <div class="work">
        <DropZone hint={`Drop to upload into ${container}/${prefix}`} onDrop={upload}>
          <BlobRows {...{ address, query, view, blobs, commands }} columns={columns.shown} />
        </DropZone>
        <Beside address={address} query={query} onChanged={blobs.reload} />
      </div>
      {dialog?.kind === "columns" && (
        <ColumnDialog
          names={blobColumns(prefix)
            .slice(1)
            .map(({ title }) => title)}
          columns={columns}
          onClose={() => onDialog(undefined)}
        />
      )}
      <BrowserDialogs
        dialog={dialog}
        address={address}
        onClose={() => onDialog(undefined)}
        onReload={blobs.reload}
      />
    </>
  );
}

interface BlobRowsProps extends BlobBrowserProps {
  readonly view: View;
  readonly blobs: BlobList;
  readonly commands: ReturnType<typeof useCommands>;
  readonly columns: ReturnType<typeof useColumns>["shown"];
}

function BlobRows(props: BlobRowsProps): JSX.Element {
  const { address, query, view, blobs, commands } = props;
  const { container, prefix } = address;
  const { open: openMenu, menu } = useMenu();
  return (
    <>
      <Listing
        label={`Blobs in ${container}`}
        list={blobs.list}
        filter={view.filter}
        onRefresh={blobs.isStale ? blobs.reload : undefined}
        empty={commands.emptyText}
        columns={props.columns(blobColumns(prefix))}
        keyOf={entryKey}
        nameOf={entryWords}
        selection={commands.selection}
        sorting={blobs.sorting}
        active={activeKey(query)}
        rowClass={({ isDeleted }) => (isDeleted ? "gone" : "")}
        onOpen={(entry) => open(address, entry)}
        onDelete={commands.askToDelete}
        onRename={commands.rename}
        onCopy={(entry) => commands.take(entry, "Copy")}
        onCut={(entry) => commands.take(entry, "Move")}
        onPaste={() => pasteInto(address, blobs.reload)}
        dragging={commands.mayMove ? { isTarget: isFolder, onDrop: commands.drop } : undefined}
        onMenu={(entry, at) =>
          openMenu({ label: entry.name, at, items: commands.actionsOf(entry) })
        }
      />
      {menu}
    </>
  );
}

interface BesideProps extends BlobBrowserProps {
  readonly onChanged: () => void;
}

/** Details of the container or blob in the address. */
function Beside({ address, query, onChanged }: BesideProps): JSX.Element | null {
  const { blob: name, snapshot, version } = query;
  if (query["details"] !== undefined) return <ContainerDetail folder={address} />;
  const { directory } = query;
  if (directory !== undefined) {
    return (
      <DirectoryDetail key={directory} folder={address} path={directory} onChanged={onChanged} />
    );
  }
  if (name === undefined) return null;
  return (
    <BlobDetail
      key={`${name}${snapshot ?? ""}${version ?? ""}`}
      folder={address}
      blob={{ name, snapshot, version }}
      onChanged={onChanged}
    />
  );
}

function activeKey(query: Readonly<Record<string, string>>): string | undefined {
  if (query["directory"] !== undefined) return `${query["directory"]}/\n\n\n`;
  if (query["blob"] === undefined) return undefined;
  return `${query["blob"]}\n${query["snapshot"] ?? ""}\n${query["version"] ?? ""}\n`;
}

function isFolder({ kind }: BlobEntry): boolean {
  return kind === "folder";
}

function open(address: FolderAddress, entry: BlobEntry): void {
  if (entry.kind === "folder") go(folderRoute({ ...address, prefix: entry.name }));
  else {
    const version = entry.isCurrentVersion ? undefined : entry.version;
    go(folderRoute(address, { name: entry.name, snapshot: entry.snapshot, version }));
  }
}
