import type { JSX } from "preact";
import { useCallback, useState } from "preact/hooks";
import { plural } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs, type Crumb } from "../parts/crumbs.tsx";
import { Filter } from "../parts/filter.tsx";
import { Listing } from "../parts/listing.tsx";
import { usePaged } from "../parts/use-paged.ts";
import { listBlobs, type BlobEntry } from "../rest/blob-list.ts";
import { formatRoute, go } from "../route.ts";
import { DropZone } from "../upload/drop-zone.tsx";
import type { Source } from "../upload/source.ts";
import { BlobDetail } from "./blob-detail.tsx";
import { detailsRoute, folderRoute, type FolderPlace } from "./blob-route.ts";
import { blobColumns, entryKey } from "./columns.tsx";
import { ContainerDetail } from "./container-detail.tsx";
import { DeleteBlobs } from "./delete-blobs.tsx";
import { NewBlob } from "./new-blob.tsx";
import { uploadInto } from "./upload-into.ts";
import { UploadButtons } from "./upload-buttons.tsx";

/** What is seen at once comes first; the rest in larger pieces. */
const firstPageRows = 200;
const pageRows = 1000;
/** Snapshots are not listed beside folders: the service refuses that. */
const hidden = ["deleted", "versions", "uncommittedblobs"];

export interface BlobBrowserProps {
  readonly place: FolderPlace;
  readonly query: Readonly<Record<string, string>>;
}

export function BlobBrowser({ place, query }: BlobBrowserProps): JSX.Element {
  const { account, container, prefix } = place;
  const [typed, setTyped] = useState("");
  const [isFlat, setFlat] = useState(false);
  const [withHidden, setWithHidden] = useState(false);
  const [selected, setSelected] = useState<ReadonlyMap<string, BlobEntry>>(new Map());
  const [dialog, setDialog] = useState<"new" | "delete">();
  const include = withHidden ? (isFlat ? [...hidden, "snapshots"] : hidden) : [];
  const { list, reload } = usePaged(
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
  const toggle = useCallback((entry: BlobEntry) => {
    if (entry.kind === "folder") return;
    setSelected((before) => {
      const next = new Map(before);
      if (!next.delete(entryKey(entry))) next.set(entryKey(entry), entry);
      return next;
    });
  }, []);
  const upload = (sources: readonly Source[]): void => uploadInto(place, sources, reload);
  const shown = query["blob"];
  const keys = new Set(selected.keys());
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={crumbsOf(place)} />
        <Filter key={prefix} label="Begins with" onChange={setTyped} />
        <Button pressed={isFlat} onClick={() => setFlat(!isFlat)}>
          Flat
        </Button>
        <Button pressed={withHidden} onClick={() => setWithHidden(!withHidden)}>
          History
        </Button>
        <Button icon="refresh" label="Refresh" onClick={reload} />
        <a class="button" href={detailsRoute(place)}>
          Details
        </a>
        {selected.size > 0 && (
          <Button icon="trash" kind="danger" onClick={() => setDialog("delete")}>
            Delete {plural(selected.size, "blob")}
          </Button>
        )}
        <span data-new>
          <Button icon="plus" onClick={() => setDialog("new")}>
            New
          </Button>
        </span>
        <UploadButtons onChoose={upload} />
      </div>
      <div class="work">
        <DropZone hint={`Drop to upload into ${container}/${prefix}`} onDrop={upload}>
          <Listing
            label={`Blobs in ${container}`}
            list={list}
            empty="Nothing here. Drop files or folders to upload them."
            columns={blobColumns({ prefix, selected: keys, onToggle: toggle })}
            keyOf={entryKey}
            selected={keys}
            active={shown === undefined ? undefined : activeKey(shown, query)}
            rowClass={({ isDeleted }) => (isDeleted ? "gone" : "")}
            onOpen={(entry) => open(place, entry)}
            onToggle={toggle}
            onDelete={(entry) => {
              if (entry.kind === "folder") return;
              setSelected(new Map([[entryKey(entry), entry]]));
              setDialog("delete");
            }}
          />
        </DropZone>
        {query["details"] !== undefined && <ContainerDetail folder={place} />}
        {shown !== undefined && (
          <BlobDetail
            key={`${shown}${query["snapshot"] ?? ""}${query["version"] ?? ""}`}
            folder={place}
            blob={{ name: shown, snapshot: query["snapshot"], version: query["version"] }}
            onChanged={reload}
          />
        )}
      </div>
      {dialog === "new" && (
        <NewBlob place={place} onClose={() => setDialog(undefined)} onDone={reload} />
      )}
      {dialog === "delete" && (
        <DeleteBlobs
          place={place}
          entries={[...selected.values()]}
          onClose={() => setDialog(undefined)}
          onDone={() => {
            setSelected(new Map());
            reload();
          }}
        />
      )}
    </>
  );
}

function activeKey(name: string, query: Readonly<Record<string, string>>): string {
  return `${name}\n${query["snapshot"] ?? ""}\n${query["version"] ?? ""}\n`;
}

function open(place: FolderPlace, entry: BlobEntry): void {
  if (entry.kind === "folder") go(folderRoute({ ...place, prefix: entry.name }));
  else {
    const version = entry.isCurrentVersion ? undefined : entry.version;
    go(folderRoute(place, { name: entry.name, snapshot: entry.snapshot, version }));
  }
}

function crumbsOf({ account, container, prefix }: FolderPlace): readonly Crumb[] {
  const parts = prefix.split("/").filter((part) => part !== "");
  const folders = parts.map((words, index) => {
    const until = `${parts.slice(0, index + 1).join("/")}/`;
    return { words, href: folderRoute({ account, container, prefix: until }) };
  });
  const all: readonly Crumb[] = [
    { words: "Containers", href: formatRoute("blobs", [account]) },
    { words: container, href: folderRoute({ account, container, prefix: "" }) },
    ...folders,
  ];
  return all.map((crumb, index) => (index === all.length - 1 ? { words: crumb.words } : crumb));
}
