import type { JSX } from "preact";
import { leaveEditor } from "../edit/unsaved.ts";
import { useState } from "preact/hooks";
import { moment } from "../format.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import type { PagedList } from "../parts/paged-list.ts";
import { usePaged } from "../parts/use-paged.ts";
import type { EdmType, Entity } from "../rest/entity.ts";
import { queryEntities, type TablePlace } from "../rest/table.ts";
import { formatRoute } from "../route.ts";
import { EntityDetail } from "./entity-detail.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { ImportDialog } from "./import-dialog.tsx";
import { QueryBuilder } from "./query-builder.tsx";

const pageRows = 1000;
const columnsMax = 24;
const columnRem = 6;
/** Width of the timestamp column, of gaps and of edges. */
const gapRem = 0.75;
const edgesRem = 13.5;
const ownNames = ["PartitionKey", "RowKey", "Timestamp"];
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
  const seen = seenProperties(list);
  return (
    <>
      <TableBar
        place={place}
        onRefresh={reload}
        onDialog={setDialog}
        onNew={() => setShown(newEntity)}
      />
      <QueryBuilder
        properties={[...ownNames, ...seen.map(({ name }) => name)]}
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
            empty="No entities match the filter."
            columns={columnsOf(seen)}
            minWidth={`${(seen.length + 2) * (columnRem + gapRem) + edgesRem}rem`}
            keyOf={keyOf}
            active={shown === undefined ? undefined : keyOf(shown)}
            onOpen={(entity) => leaveEditor(() => setShown(entity))}
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

interface SeenProperty {
  readonly name: string;
  /** Undefined if the entities have different types for this property. */
  readonly type: EdmType | undefined;
}

/** The properties that get a column: those of the first 200 rows, because entities may have
 *  different ones. */
function seenProperties(list: PagedList<Entity>): readonly SeenProperty[] {
  const types = new Map<string, Set<EdmType>>();
  for (let index = 0; index < Math.min(list.count, rowsLookedAtMax); index += 1) {
    for (const [name, { type }] of Object.entries(list.rowAt(index)?.properties ?? {})) {
      types.set(name, (types.get(name) ?? new Set()).add(type));
    }
  }
  return [...types].slice(0, columnsMax).map(([name, found]) => {
    const [type, other] = found;
    return { name, type: other === undefined ? type : undefined };
  });
}

function propertyColumn({ name, type }: SeenProperty): Column<Entity> {
  return {
    title: name,
    note: type?.slice(4),
    width: `minmax(${columnRem}rem, 1fr)`,
    isMinor: true,
    cell: ({ properties }) => {
      const property = properties[name];
      if (property === undefined) return null;
      return (
        <span title={`${property.type} ${property.text}`} class="number">
          {property.text}
          {type === undefined && <span class="type"> {property.type.slice(4)}</span>}
        </span>
      );
    },
  };
}

function columnsOf(seen: readonly SeenProperty[]): readonly Column<Entity>[] {
  return [
    {
      title: "PartitionKey",
      width: `minmax(${columnRem}rem, 1fr)`,
      cell: ({ partitionKey }) => partitionKey,
    },
    { title: "RowKey", width: `minmax(${columnRem}rem, 1fr)`, cell: ({ rowKey }) => rowKey },
    ...seen.map(propertyColumn),
    {
      title: "Timestamp",
      width: "10.5rem",
      isMinor: true,
      cell: ({ timestamp }) => <span class="soft">{moment(timestamp)}</span>,
    },
  ];
}
