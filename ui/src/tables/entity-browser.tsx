import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { sortedPage, type FetchPage } from "../parts/arranged-pages.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { ColumnDialog, useColumns } from "../parts/column-dialog.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Listing } from "../parts/listing.tsx";
import { SelectionBar } from "../parts/selection-bar.tsx";
import { useSelection } from "../parts/selection.ts";
import { comparison, useSorting } from "../parts/sorting.ts";
import { useFollowing } from "../parts/use-following.ts";
import { useMenu } from "../parts/use-menu.tsx";
import { usePaged } from "../parts/use-paged.ts";
import type { Entity } from "../rest/entity.ts";
import { queryEntities, type TableAddress } from "../rest/table.ts";
import { changedQuery, formatRoute, go, useQueryValue } from "../route.ts";
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
import { EntityBeside } from "./entity-beside.tsx";
import { ChangeEntities, DeleteEntities } from "./entity-dialogs.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { entityValue } from "./entity-route.ts";
import { ImportDialog } from "./import-dialog.tsx";
import { QueryBuilder } from "./query-builder.tsx";

const pageRows = 1000;
const ownNames = ["PartitionKey", "RowKey", "Timestamp"];

/** The entities that match the filter, sorted if the user chose a column. */
function useEntities(
  address: TableAddress,
  filter: string,
): Entities & { readonly seen: readonly SeenProperty[] } {
  const sorting = useSorting([]);
  const sort = sorting.present;
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
  const isStale = useFollowing({
    list,
    reload,
    isAbout: ({ service, account, container }) =>
      service === "table" && account === address.account && container === address.table,
  });
  const seen = seenProperties(list);
  // Sorting needs the columns of the list that is replaced by the sorted one.
  if (seen.length > 0) keysOf.present = sortKeysOf(seen);
  const titles = Object.keys(keysOf.present);
  return { list, reload, isStale, fetchPage, seen, sorting: { ...sorting, titles } };
}

export function EntityBrowser({ address }: { readonly address: TableAddress }): JSX.Element {
  const [filter, setFilter] = useQueryValue("filter");
  const [dialog, setDialog] = useState<TableDialog>();
  const entities = useEntities(address, filter);
  const { reload, seen } = entities;
  const names = seen.map(({ name }) => name);
  const chosen = useColumns(`${address.account}/${address.table}`, names);
  const columns = shownProperties(seen, chosen.chosen);
  const selection = useSelection<Entity>(entityValue, [filter]);
  const show = (entity: Entity): void => go(changedQuery({ entity: entityValue(entity) }));
  const commands = { onDialog: setDialog, onOpen: show };
  const context: ActionContext = { address, selection, entities, ...commands };
  return (
    <>
      <TableBar
        address={address}
        onRefresh={reload}
        onDialog={(kind) => setDialog({ kind })}
        onNew={() => go(changedQuery({ entity: "new" }))}
      />
      <QueryBuilder
        filter={filter}
        properties={[...ownNames, ...names]}
        onRun={(next) => {
          if (next === filter) reload();
          else setFilter(next);
        }}
      />
      <SelectionBar selection={selection} actions={selectedActions(context, selection)} />
      <div class="work">
        <EntityList context={context} columns={columns} filter={filter} />
        <EntityBeside table={address} list={entities.list} onChanged={reload} />
      </div>
      {dialog?.kind === "columns" && (
        <ColumnDialog names={names} columns={chosen} onClose={() => setDialog(undefined)} />
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
  readonly filter: string;
}

function EntityList({ context, columns, filter }: EntityListProps): JSX.Element {
  const { open: openMenu, menu } = useMenu();
  const abilities = useAbilities();
  const { entities, address, selection, onOpen } = context;
  const [shown] = useQueryValue("entity");
  return (
    <div class="list wide-list">
      <Listing
        label={`Entities of ${address.table}`}
        list={entities.list}
        onRefresh={entities.isStale ? entities.reload : undefined}
        empty={filter === "" ? "No entities." : "No entities match the filter."}
        columns={columnsOf(columns)}
        minWidth={minWidthOf(columns)}
        keyOf={entityValue}
        nameOf={entityName}
        selection={selection}
        sorting={entities.sorting}
        active={shown}
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
