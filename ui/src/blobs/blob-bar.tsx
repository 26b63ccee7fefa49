import type { JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { Crumbs, type Crumb } from "../parts/crumbs.tsx";
import { Filter } from "../parts/filter.tsx";
import { formatRoute, setQuery } from "../route.ts";
import type { Source } from "../upload/source.ts";
import { detailsRoute, folderRoute, type FolderAddress } from "./blob-route.ts";
import { UploadButtons } from "./upload-buttons.tsx";
import type { View } from "./use-blob-list.ts";

interface BlobBarProps {
  readonly address: FolderAddress;
  readonly view: View;
  readonly onColumns: () => void;
  readonly onNew: () => void;
  /** Undefined in a flat account, where folders exist only in names. */
  readonly onNewDirectory: (() => void) | undefined;
  readonly onUpload: (sources: readonly Source[]) => void;
  /** Undefined if nothing was copied or cut. */
  readonly onPaste: (() => void) | undefined;
  readonly onRefresh: () => void;
}

export function BlobBar(props: BlobBarProps): JSX.Element {
  const { address, view } = props;
  return (
    <div class="bar">
      <Crumbs crumbs={crumbsOf(address)} />
      <Filter key={address.prefix} />
      <Button pressed={view.isFlat} onClick={() => setQuery({ flat: view.isFlat ? "" : "1" })}>
        Flat
      </Button>
      <Button
        pressed={view.withHidden}
        onClick={() => setQuery({ history: view.withHidden ? "" : "1" })}
      >
        History
      </Button>
      <Button icon="columns" label="Columns" onClick={props.onColumns} />
      <Button icon="refresh" label="Refresh" onClick={props.onRefresh} />
      <a class="button" href={detailsRoute(address)}>
        Details
      </a>
      {props.onNewDirectory !== undefined && (
        <Button icon="folder" needs="write" onClick={props.onNewDirectory}>
          New directory
        </Button>
      )}
      <span data-new>
        <Button icon="plus" needs="write" onClick={props.onNew}>
          New blob
        </Button>
      </span>
      {props.onPaste !== undefined && (
        <Button icon="paste" needs="write" onClick={props.onPaste}>
          Paste
        </Button>
      )}
      <UploadButtons onChoose={props.onUpload} />
    </div>
  );
}

function crumbsOf({ account, container, prefix }: FolderAddress): readonly Crumb[] {
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
