import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { UploadButtons } from "../blobs/upload-buttons.tsx";
import { bytes, moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs, type Crumb } from "../parts/crumbs.tsx";
import { FormDialog } from "../parts/dialog.tsx";
import { Field } from "../parts/field.tsx";
import { Filter } from "../parts/filter.tsx";
import { textIn } from "../parts/form-values.ts";
import type { Column } from "../parts/grid.tsx";
import { Icon } from "../parts/icon.tsx";
import { Listing } from "../parts/listing.tsx";
import { describeFailure, report } from "../parts/notices.tsx";
import { Badge } from "../parts/states.tsx";
import { usePaged } from "../parts/use-paged.ts";
import { listFolder, type FileEntry, type FolderPlace } from "../rest/file-list.ts";
import { createFolder, snapshotShare } from "../rest/file.ts";
import { formatRoute, go } from "../route.ts";
import { DropZone } from "../upload/drop-zone.tsx";
import type { Source } from "../upload/source.ts";
import { EntryActions } from "./entry-actions.tsx";
import { FileDetail } from "./file-detail.tsx";
import { shareRoute } from "./share-route.ts";
import { joined, uploadFilesInto } from "./upload-file.ts";

export interface ShareBrowserProps {
  readonly place: FolderPlace;
  readonly shown: string | undefined;
}

/** Shows a folder of a share, with the details of one file beside it. */
export function ShareBrowser({ place, shown }: ShareBrowserProps): JSX.Element {
  const { account, share, folder, snapshot } = place;
  const [prefix, setPrefix] = useState("");
  const [isCreating, setCreating] = useState(false);
  const { list, reload } = usePaged(
    (marker) => listFolder(place, { prefix, marker }),
    [account, share, folder, prefix, snapshot],
  );
  const isWritable = snapshot === undefined;
  const upload = (sources: readonly Source[]): void => uploadFilesInto(place, sources, reload);
  const open = ({ kind, name }: FileEntry): void => {
    const path = joined(folder, name);
    go(kind === "folder" ? shareRoute({ ...place, folder: path }) : shareRoute(place, path));
  };
  return (
    <>
      <ShareBar
        place={place}
        onFilter={setPrefix}
        onRefresh={reload}
        onNew={() => setCreating(true)}
        onUpload={upload}
      />
      <div class="work">
        <DropZone hint={`Drop to upload into ${share}/${folder}`} onDrop={upload}>
          <Listing
            label={`Files in ${share}`}
            list={list}
            prefix={prefix}
            empty="No files. Drop files or folders here to upload them."
            columns={columnsOf(place, { isWritable, reload })}
            keyOf={({ name }) => joined(folder, name)}
            active={shown}
            onOpen={open}
          />
        </DropZone>
        {shown !== undefined && (
          <FileDetail
            key={shown}
            place={{ account, share, path: shown, snapshot }}
            onClose={() => go(shareRoute(place))}
          />
        )}
      </div>
      {isCreating && <NewFolder place={place} onClose={() => setCreating(false)} onDone={reload} />}
    </>
  );
}

interface NewFolderProps {
  readonly place: FolderPlace;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NewFolder({ place, onClose, onDone }: NewFolderProps): JSX.Element {
  const create = async (values: FormData): Promise<string | undefined> => {
    const path = joined(place.folder, textIn(values, "name"));
    const result = await createFolder({ account: place.account, share: place.share, path });
    if (!result.ok) return describeFailure(result.failure);
    onDone();
    return undefined;
  };
  return (
    <FormDialog title="New folder" action="Create" onClose={onClose} onSubmit={create}>
      <Field label="Name" name="name" required autoFocus />
    </FormDialog>
  );
}

interface ShareBarProps {
  readonly place: FolderPlace;
  readonly onFilter: (prefix: string) => void;
  readonly onRefresh: () => void;
  readonly onNew: () => void;
  readonly onUpload: (sources: readonly Source[]) => void;
}

function ShareBar({ place, onFilter, onRefresh, onNew, onUpload }: ShareBarProps): JSX.Element {
  const { account, share, folder, snapshot } = place;
  return (
    <div class="bar">
      <Crumbs crumbs={crumbsOf(place)} />
      {snapshot !== undefined && <Badge tone="accent">snapshot {moment(snapshot)}</Badge>}
      <Filter key={folder} label="Prefix" onChange={onFilter} />
      <Button icon="refresh" label="Refresh" onClick={onRefresh} />
      {snapshot === undefined && (
        <>
          <SnapshotButton account={account} share={share} />
          <span data-new>
            <Button icon="plus" onClick={onNew}>
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
  return <Button icon="camera" label="Snapshot share" onClick={() => void take()} />;
}

interface ColumnOptions {
  readonly isWritable: boolean;
  readonly reload: () => void;
}

function columnsOf(place: FolderPlace, options: ColumnOptions): readonly Column<FileEntry>[] {
  return [
    { title: "Name", width: "minmax(0, 3fr)", cell: (entry) => <Name entry={entry} /> },
    { title: "Size", width: "6rem", align: "end", cell: ({ length }) => bytes(length) },
    {
      title: "Written",
      width: "11rem",
      isMinor: true,
      cell: ({ lastWriteAt }) => <span class="soft">{moment(lastWriteAt)}</span>,
    },
    {
      title: "Actions",
      isTitleHidden: true,
      width: "5.5rem",
      align: "end",
      cell: (entry) =>
        options.isWritable ? (
          <EntryActions folder={place} entry={entry} onChanged={options.reload} />
        ) : null,
    },
  ];
}

function Name({ entry: { kind, name } }: { readonly entry: FileEntry }): JSX.Element {
  return (
    <span class={kind === "folder" ? "name folder" : "name"}>
      <Icon name={kind} />
      <span>{name}</span>
    </span>
  );
}

function crumbsOf(place: FolderPlace): readonly Crumb[] {
  const parts = place.folder.split("/").filter((part) => part !== "");
  const folders = parts.map((words, index) => ({
    words,
    href: shareRoute({ ...place, folder: parts.slice(0, index + 1).join("/") }),
  }));
  const all: readonly Crumb[] = [
    { words: "Shares", href: formatRoute("shares", [place.account]) },
    { words: place.share, href: shareRoute({ ...place, folder: "" }) },
    ...folders,
  ];
  return all.map((crumb, index) => (index === all.length - 1 ? { words: crumb.words } : crumb));
}
