import type { JSX } from "preact";
import { bytes, moment } from "../format.ts";
import { EntryName } from "../parts/entry-name.tsx";
import type { Column } from "../parts/grid.tsx";
import { Badge } from "../parts/states.tsx";
import type { BlobEntry } from "../rest/blob-list.ts";

/** Distinguishes the rows of a list: a blob, and its snapshots, versions and deleted states have
 *  one name. */
export function entryKey({ name, snapshot, version, isDeleted }: BlobEntry): string {
  return `${name}\n${snapshot ?? ""}\n${version ?? ""}\n${isDeleted ? "deleted" : ""}`;
}

/** The name of a row for people who cannot see its State: a blob may have many rows. */
export function entryWords({ name, snapshot, version, ...entry }: BlobEntry): string {
  const deleted = entry.isDeleted ? ", deleted" : "";
  if (snapshot !== undefined) return `${name}, snapshot ${moment(snapshot)}${deleted}`;
  if (version === undefined || entry.isCurrentVersion) return `${name}${deleted}`;
  return `${name}, version ${moment(version)}${deleted}`;
}

/** Columns that are shown unless the user has chosen others. */
export const defaultColumns = ["Size", "Type", "State", "Modified"];

/** The columns of a list of blobs, whose names are shown without `prefix`. */
export function blobColumns(prefix: string): readonly Column<BlobEntry>[] {
  return [
    {
      title: "Name",
      width: "minmax(0, 3fr)",
      cell: (entry) => <Name entry={entry} prefix={prefix} />,
    },
    {
      title: "Size",
      width: "6rem",
      align: "end",
      isMinor: "last",
      cell: ({ length }) => bytes(length),
    },
    {
      title: "Type",
      width: "minmax(0, 1fr)",
      isMinor: true,
      cell: ({ contentType }) => <span class="soft">{contentType}</span>,
    },
    { title: "State", width: "8.5rem", isMinor: true, cell: (entry) => <State entry={entry} /> },
    {
      title: "Modified",
      width: "10.5rem",
      isMinor: true,
      cell: ({ lastModified }) => <span class="soft">{moment(lastModified)}</span>,
    },
    {
      title: "Created",
      width: "10.5rem",
      isMinor: true,
      cell: ({ createdAt }) => <span class="soft">{moment(createdAt)}</span>,
    },
    {
      title: "Tier",
      width: "5rem",
      isMinor: true,
      cell: ({ tier }) => <span class="soft">{tier}</span>,
    },
    {
      title: "ETag",
      width: "10.5rem",
      isMinor: true,
      cell: ({ etag }) => <code>{etag}</code>,
    },
    {
      title: "Metadata",
      width: "minmax(0, 2fr)",
      isMinor: true,
      cell: ({ metadata }) => <span class="soft">{pairsText(metadata)}</span>,
    },
  ];
}

function pairsText(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([name, value]) => `${name}=${value}`)
    .join(", ");
}

function Name({
  entry,
  prefix,
}: {
  readonly entry: BlobEntry;
  readonly prefix: string;
}): JSX.Element {
  const isFolder = entry.kind === "folder";
  const words = entry.name.startsWith(prefix) ? entry.name.slice(prefix.length) : entry.name;
  return (
    <EntryName
      icon={isFolder ? "folder" : "file"}
      text={words === "" ? entry.name : words}
      whole={entry.name}
      isFolder={isFolder}
    />
  );
}

function State({ entry }: { readonly entry: BlobEntry }): JSX.Element {
  const { isDeleted, snapshot, isCurrentVersion, leaseState, tier } = entry;
  return (
    <>
      {isDeleted && <Badge tone="bad">deleted</Badge>}
      {snapshot !== undefined && <Badge tone="accent">snapshot</Badge>}
      {!isCurrentVersion && !isDeleted && <Badge tone="accent">version</Badge>}
      {(leaseState === "leased" || leaseState === "breaking") && (
        <Badge tone="warn">{leaseState}</Badge>
      )}{" "}
      {tier !== "" && tier !== "Hot" && <Badge>{tier}</Badge>}
    </>
  );
}
