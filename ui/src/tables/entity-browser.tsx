import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import type { PagedList } from "../parts/paged-list.ts";
import { usePaged } from "../parts/use-paged.ts";
import type { Entity } from "../rest/entity.ts";
import { queryEntities, type TablePlace } from "../rest/table.ts";
import { formatRoute } from "../route.ts";
import { EntityDetail } from "./entity-detail.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { ImportDialog } from "./import-dialog.tsx";
import { QueryBuilder } from "./query-builder.tsx";

const pageRows = 1000;
const columnsMax = 24;
const columnRem = 9.5;
const rowsLookedAtMax = 200;

const newEntity: Entity = {
  partitionKey: "",
  rowKey: "",
  timestamp: "",
  etag: "",
  properties: {},
};

export function EntityBrowser({ place }: { readonly place: TablePlace }): JSX.Element {
  const [filter, setFilter] = useState("");
  const [shown, setShown] = useState<Entity>();
  const [dialog, setDialog] = useState<"export" | "import">();
  const { list, reload } = usePaged(
    (marker) => queryEntities(place, { filter, marker, resultsMax: pageRows }),
    [place.account, place.table, filter],
  );
  const names = propertyNames(list);
  return (
    <>
      <TableBar
        place={place}
        onRefresh={reload}
        onDialog={setDialog}
        onNew={() => setShown(newEntity)}
      />
      <QueryBuilder
        properties={["PartitionKey", "RowKey", "Timestamp", ...names]}
        onRun={(next) => {
          if (next === filter) reload();
          else setFilter(next);
        }}
      />
      <div class="work">
        <div class="list wide-list">
          <Listing
            label={`Entities of ${place.table}`}
            list={list}
            empty="No entity matches."
            columns={columnsOf(names)}
            minWidth={`${(names.length + 3) * columnRem}rem`}
            keyOf={keyOf}
            active={shown === undefined ? undefined : keyOf(shown)}
            onOpen={setShown}
          />
        </div>
        {shown !== undefined && (
          <EntityDetail
            key={keyOf(shown)}
            table={place}
            entity={shown}
            onClose={() => setShown(undefined)}
            onChanged={reload}
          />
        )}
      </div>
      {dialog === "export" && (
        <ExportDialog place={place} filter={filter} onClose={() => setDialog(undefined)} />
      )}
      {dialog === "import" && (
        <ImportDialog place={place} onClose={() => setDialog(undefined)} onDone={reload} />
      )}
    </>
  );
}

interface TableBarProps {
  readonly place: TablePlace;
  readonly onRefresh: () => void;
  readonly onDialog: (dialog: "export" | "import") => void;
  readonly onNew: () => void;
}

function TableBar({ place, onRefresh, onDialog, onNew }: TableBarProps): JSX.Element {
  const tables = { words: "Tables", href: formatRoute("tables", [place.account]) };
  return (
    <div class="bar">
      <Crumbs crumbs={[tables, { words: place.table }]} />
      <Button icon="refresh" label="Refresh" onClick={onRefresh} />
      <Button icon="download" onClick={() => onDialog("export")}>
        Export
      </Button>
      <Button icon="upload" onClick={() => onDialog("import")}>
        Import
      </Button>
      <span data-new>
        <Button icon="plus" kind="main" onClick={onNew}>
          New entity
        </Button>
      </span>
    </div>
  );
}

function keyOf({ partitionKey, rowKey }: Entity): string {
  return `${partitionKey}\n${rowKey}`;
}

/** Entities of a table need not be alike: the columns are those of the first that are seen. */
function propertyNames(list: PagedList<Entity>): readonly string[] {
  const names = new Set<string>();
  for (let index = 0; index < Math.min(list.count, rowsLookedAtMax); index += 1) {
    for (const name of Object.keys(list.rowAt(index)?.properties ?? {})) names.add(name);
  }
  return [...names].slice(0, columnsMax);
}

function columnsOf(names: readonly string[]): readonly Column<Entity>[] {
  const own: readonly Column<Entity>[] = names.map((name) => ({
    title: name,
    width: "minmax(8rem, 1fr)",
    isMinor: true,
    cell: ({ properties }) => {
      const property = properties[name];
      if (property === undefined) return null;
      const isNumber = /Int|Double/.test(property.type);
      return (
        <span title={property.type} class={isNumber ? "number" : undefined}>
          {property.text} <span class="type">{property.type.slice(4)}</span>
        </span>
      );
    },
  }));
  return [
    { title: "PartitionKey", width: "minmax(8rem, 1fr)", cell: ({ partitionKey }) => partitionKey },
    { title: "RowKey", width: "minmax(8rem, 1fr)", cell: ({ rowKey }) => rowKey },
    ...own,
    {
      title: "Timestamp",
      width: "10.5rem",
      isMinor: true,
      cell: ({ timestamp }) => <span class="soft">{moment(timestamp)}</span>,
    },
  ];
}
