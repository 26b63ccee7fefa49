import type { JSX } from "preact";
import { getStates, type TimelineEntry } from "../admin/timeline.ts";
import { bytes, moment, shortEtag } from "../format.ts";
import type { FetchPage } from "../parts/arranged-pages.ts";
import { Section } from "../parts/detail.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import type { MenuItem } from "../parts/menu.tsx";
import { report } from "../parts/notices.tsx";
import { Badge, type Tone } from "../parts/states.tsx";
import { TimelineView } from "../parts/timeline.tsx";
import { useMenu } from "../parts/use-menu.tsx";
import { usePaged } from "../parts/use-paged.ts";
import { undeleteBlob } from "../rest/blob-actions.ts";
import { copyBlobState } from "../rest/blob-move.ts";
import type { BlobAddress } from "../rest/blob.ts";
import { mapped, type Result } from "../result.ts";
import { go } from "../route.ts";
import { folderRoute, parentPrefix } from "./blob-route.ts";
import { download } from "./download.ts";

interface HistoryTabProps {
  readonly address: BlobAddress;
  readonly onChanged: () => void;
}

/** The stored states, newest first: the List Blobs operation has the oldest first. */
function statesOf({ account, container, name: path }: BlobAddress): FetchPage<TimelineEntry> {
  return async (after, { signal }) => {
    const of = { service: "blob", account, container, path };
    return mapped(await getStates(of, { after, signal }), ({ states, next }) => ({
      rows: states,
      next,
    }));
  };
}

export function HistoryTab({ address, onChanged }: HistoryTabProps): JSX.Element {
  const { account, container, name } = address;
  const { list, reload } = usePaged(statesOf(address), [account, container, name]);
  const { open: openMenu, menu } = useMenu();
  const newest = list.rowAt(0);
  const current = newest?.what === "current" ? newest : undefined;
  const act = async (work: Promise<Result<unknown>>, words: string): Promise<void> => {
    if (!report(await work, words)) return;
    reload();
    onChanged();
  };
  const actionsOf = (entry: TimelineEntry): readonly MenuItem[] => {
    const undelete: MenuItem = {
      label: "Undelete",
      icon: "restore",
      needs: "write",
      run: () => void act(undeleteBlob({ account, container, name }), "Restored"),
    };
    if (entry.what === "deleted") return [undelete];
    const state = stateOf(address, entry);
    const restore: MenuItem = {
      label: "Make current",
      icon: "restore",
      needs: "write",
      run: () => void act(makeCurrent(address, entry, current), "This state is the current one"),
    };
    const save = (): void => void download(state);
    return [
      { label: "Show", icon: "file", needs: "read", run: () => show(state) },
      { label: "Download", icon: "download", needs: "read", run: save },
      ...(entry.what === "current" ? [] : [restore]),
    ];
  };
  return (
    <>
      <Section title="Stored states">
        <div class="history-list">
          <Listing
            label="Stored states"
            list={list}
            empty="No stored states."
            columns={columns}
            keyOf={keyOf}
            nameOf={(entry) => `${entry.what} ${moment(entry.snapshot ?? entry.at)}`}
            onOpen={(entry) => {
              if (entry.what !== "deleted") show(stateOf(address, entry));
            }}
            onMenu={(entry, at) => openMenu({ label: entry.what, at, items: actionsOf(entry) })}
          />
        </div>
      </Section>
      <Section title="Timeline">
        <TimelineView of={{ service: "blob", account, container, path: name }} />
      </Section>
      {menu}
    </>
  );
}

/** Copies an old state over the current one, which must be the one that is shown. */
function makeCurrent(
  address: BlobAddress,
  entry: TimelineEntry,
  current: TimelineEntry | undefined,
): Promise<Result<unknown>> {
  const { account, container, name } = address;
  const condition = current?.etag === undefined ? { ifNoneMatch: "*" } : { ifMatch: current.etag };
  const from = { ...stateOf(address, entry), etag: entry.etag ?? "" };
  return copyBlobState(from, { account, container, name }, { condition });
}

function stateOf({ account, container, name }: BlobAddress, entry: TimelineEntry): BlobAddress {
  const { what, snapshot, versionId } = entry;
  const isVersion = what !== "current" && snapshot === undefined;
  return { account, container, name, snapshot, version: isVersion ? versionId : undefined };
}

function show(address: BlobAddress): void {
  go(folderRoute({ ...address, prefix: parentPrefix(address.name) }, address));
}

function keyOf({ what, at, snapshot, versionId }: TimelineEntry): string {
  return `${what} ${snapshot ?? ""} ${versionId ?? ""} ${at}`;
}

const tones: Readonly<Record<string, Tone>> = { current: "good", deleted: "bad" };

const columns: readonly Column<TimelineEntry>[] = [
  {
    title: "State",
    width: "5rem",
    cell: ({ what }) => <Badge tone={tones[what] ?? "accent"}>{what}</Badge>,
  },
  {
    title: "Time",
    width: "minmax(0, 2fr)",
    cell: ({ at, snapshot }) => <span class="soft">{moment(snapshot ?? at)}</span>,
  },
  {
    title: "ETag",
    width: "minmax(0, 1fr)",
    cell: ({ etag }) => <code title={etag}>{shortEtag(etag)}</code>,
  },
  {
    title: "Size",
    width: "4.5rem",
    align: "end",
    cell: ({ contentLength }) => bytes(contentLength),
  },
];
