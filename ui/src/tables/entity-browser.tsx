import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { leaveEditor } from "../edit/unsaved.ts";
import { sortedPage, type FetchPage } from "../parts/arranged-pages.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Listing } from "../parts/listing.tsx";
import { SelectionBar } from "../parts/selection-bar.tsx";
import { useSelection } from "../parts/selection.ts";
import { comparison, type Sort } from "../parts/sorting.ts";
import { useMenu } from "../parts/use-menu.tsx";
import { usePaged } from "../parts/use-paged.ts";
import type { Entity } from "../rest/entity.ts";
import { queryEntities, type TableAddress } from "../rest/table.ts";
import { formatRoute } from "../route.ts";
import { entityName } from "./bulk.ts";
import {
  actionsOf,
  askToDelete,
  selectedActions,
  type ActionContext,
  type Entities,
  type TableDialog,
} from "./entity-actions.ts";
import {
  columnsOf,
  minWidthOf,
  seenProperties,
  shownProperties,
  sortKeysOf,
  type SeenProperty,
} from "./entity-columns.tsx";
import { EntityDetail } from "./entity-detail.tsx";
import { ChangeEntities, ColumnDialog, DeleteEntities } from "./entity-dialogs.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { useHiddenColumns } from "./hidden-columns.ts";
import { ImportDialog } from "./import-dialog.tsx";
import { QueryBuilder } from "./query-builder.tsx";

const pageRows = 1000;
const ownNames = ["PartitionKey", "RowKey", "Timestamp"];

const newEntity: Entity = {
  partitionKey: "",
  rowKey: "",
  timestamp: "",
  etag: "",
  properties: {},
};

/** The entities that match the filter, sorted if the user chose a column. */
function useEntities(
  address: TableAddress,
  filter: string,
): Entities & { readonly seen: readonly SeenProperty[] } {
  const [sort, setSort] = useState<Sort>();
  const inputs = [address.account, address.table, filter];
  const fetchPage = useMemo<FetchPage<Entity>>(
    () =>
      (marker, { signal }) =>
        queryEntities(address, { filter, marker, resultsMax: pageRows, signal }),
    inputs,
  );
  const keysOf = useMemo(() => ({ present: sortKeysOf([]) }), []);
  const pages = sort ? sortedPage(fetchPage, comparison(keysOf.present, sort)) : fetchPage;
  const { list, reload } = usePaged(pages, [...inputs, sort]);
  const seen = seenProperties(list);
  // Sorting needs the columns of the list that is replaced by the sorted one.
  if (seen.length > 0) keysOf.present = sortKeysOf(seen);
  const titles = Object.keys(keysOf.present);
  return { list, reload, fetchPage, seen, sorting: { titles, present: sort, set: setSort } };
}

export function EntityBrowser({ address }: { readonly address: TableAddress }): JSX.Element {
  const [filter, setFilter] = useState("");
  const [shown, setShown] = useState<Entity>();
  const [dialog, setDialog] = useState<TableDialog>();
  const entities = useEntities(address, filter);
  const { reload, seen } = entities;
  const [hidden, setHidden] = useHiddenColumns(address);
  const columns = shownProperties(seen, hidden);
  const selection = useSelection(keyOf, [filter]);
  const show = (entity: Entity): void => leaveEditor(() => setShown(entity));
  const commands = { onDialog: setDialog, onOpen: show };
  const context: ActionContext = { address, selection, entities, ...commands };
  return (
    <>
      <TableBar
        address={address}
        onRefresh={reload}
        onDialog={(kind) => setDialog({ kind })}
        onNew={() => setShown(newEntity)}
      />
      <QueryBuilder
        properties={[...ownNames, ...seen.map(({ name }) => name)]}
        onRun={(next) => {
          if (next === filter) reload();
          else setFilter(next);
        }}
      />
      <SelectionBar selection={selection} actions={selectedActions(context, selection)} />
      <div class="work">
        <EntityList context={context} columns={columns} shown={shown} filter={filter} />
        {shown !== undefined && (
          <EntityDetail
            key={keyOf(shown)}
            table={address}
            entity={shown}
            onClose={() => setShown(undefined)}
            onChanged={reload}
          />
        )}
      </div>
      {dialog?.kind === "columns" && (
        <ColumnDialog
          names={seen.map(({ name }) => name)}
          hidden={hidden}
          onChange={setHidden}
          onClose={() => setDialog(undefined)}
        />
      )}
      <TableDialogs
        dialog={dialog}
        address={address}
        filter={filter}
        onDialog={setDialog}
        onDone={reload}
      />
    </>
  );
}

interface EntityListProps {
  readonly context: ActionContext;
  readonly columns: readonly SeenProperty[];
  readonly shown: Entity | undefined;
  readonly filter: string;
}

function EntityList({ context, columns, shown, filter }: EntityListProps): JSX.Element {
  const { open: openMenu, menu } = useMenu();
  const abilities = useAbilities();
  const { entities, address, selection, onOpen } = context;
  return (
    <div class="list wide-list">
      <Listing
        label={`Entities of ${address.table}`}
        list={entities.list}
        empty={filter === "" ? "No entities." : "No entities match the filter."}
        columns={columnsOf(columns)}
        minWidth={minWidthOf(columns)}
        keyOf={keyOf}
        nameOf={entityName}
        selection={selection}
        sorting={entities.sorting}
        active={shown === undefined ? undefined : keyOf(shown)}
        onOpen={onOpen}
        onDelete={(entity) => {
          if (abilities.delete) askToDelete(context, entity);
        }}
        onMenu={(entity, at) =>
          openMenu({ label: entityName(entity), at, items: actionsOf(context, entity) })
        }
      />
      {menu}
    </div>
  );
}

interface TableDialogsProps {
  readonly dialog: TableDialog | undefined;
  readonly address: TableAddress;
  readonly filter: string;
  readonly onDialog: (dialog: TableDialog | undefined) => void;
  readonly onDone: () => void;
}

function TableDialogs(props: TableDialogsProps): JSX.Element | null {
  const { dialog, address, filter, onDone } = props;
  const close = (): void => props.onDialog(undefined);
  switch (dialog?.kind) {
    case "export":
      return <ExportDialog address={address} filter={filter} onClose={close} />;
    case "import":
      return <ImportDialog address={address} onClose={close} onDone={onDone} />;
    case "delete":
      return <DeleteEntities batch={dialog.batch} onClose={close} />;
    case "change":
      return <ChangeEntities batch={dialog.batch} onClose={close} />;
    default:
      return null;
  }
}

interface TableBarProps {
  readonly address: TableAddress;
  readonly onRefresh: () => void;
  readonly onDialog: (dialog: "export" | "import" | "columns") => void;
  readonly onNew: () => void;
}

function TableBar({ address, onRefresh, onDialog, onNew }: TableBarProps): JSX.Element {
  const tables = { words: "Tables", href: formatRoute("tables", [address.account]) };
  return (
    <div class="bar">
      <Crumbs crumbs={[tables, { words: address.table }]} />
      <Button icon="refresh" label="Refresh" onClick={onRefresh} />
      <Button icon="columns" onClick={() => onDialog("columns")}>
        Columns
      </Button>
      <Button icon="download" onClick={() => onDialog("export")}>
        Export
      </Button>
      <Button icon="upload" needs="write" onClick={() => onDialog("import")}>
        Import
      </Button>
      <span data-new>
        <Button icon="plus" kind="main" needs="write" onClick={onNew}>
          New entity
        </Button>
      </span>
    </div>
  );
}

function keyOf({ partitionKey, rowKey }: Entity): string {
  return `${partitionKey}\n${rowKey}`;
}
