import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useAbilities } from "./abilities.ts";
import { namedPages, sortedPage } from "./arranged-pages.ts";
import { Button } from "./button.tsx";
import { Crumbs } from "./crumbs.tsx";
import { EntryName } from "./entry-name.tsx";
import { Filter, useFilter } from "./filter.tsx";
import type { Column } from "./grid.tsx";
import { Listing } from "./listing.tsx";
import type { MenuItem } from "./menu.tsx";
import { nameActions, type NameBatch } from "./name-actions.ts";
import { NameDialogs, type NameDialog } from "./name-dialogs.tsx";
import type { NameFilter } from "./name-filter.ts";
import type { Named, NameListProps } from "./name-types.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { isAlone, useSelection } from "./selection.ts";
import { comparison, useSorting, type SortKeys } from "./sorting.ts";
import { useFollowing } from "./use-following.ts";
import { useMenu } from "./use-menu.tsx";
import { usePaged } from "./use-paged.ts";

function useNames<Row extends Named>(props: NameListProps<Row>, filter: NameFilter) {
  const { account, one, variant } = props;
  const keys: SortKeys<Row> = { Name: ({ name }) => name, ...props.sortKeys };
  const sorting = useSorting(Object.keys(keys));
  const sort = sorting.present;
  const inputs = [account, one, filter, variant];
  const fetchPage = useMemo(
    () => namedPages(filter, (prefix, marker) => props.list({ prefix, marker })),
    inputs,
  );
  const pages = sort === undefined ? fetchPage : sortedPage(fetchPage, comparison(keys, sort));
  const paged = usePaged(pages, [...inputs, sort]);
  const isStale = useFollowing({
    ...paged,
    isAbout: ({ service, account: of, ...change }) =>
      service === props.service && of === account && !isInside(change),
  });
  return { ...paged, isStale, sorting, fetchPage };
}

/** Whether a change is one of something in a container, queue, table or share. */
function isInside(change: { readonly path?: string; readonly partitionKey?: string }): boolean {
  return (change.path ?? "") !== "" || change.partitionKey !== undefined;
}

/** The selected rows, the dialogs, and the commands for a row or for the selection. */
function useCommands<Row extends Named>(
  props: NameListProps<Row>,
  filter: NameFilter,
  { fetchPage, reload }: ReturnType<typeof useNames<Row>>,
) {
  const [dialog, setDialog] = useState<NameDialog<Row>>();
  const keyOf = props.keyOf ?? (({ name }: Row) => name);
  const selection = useSelection(keyOf, [props.account, filter, props.variant]);
  const { manage } = useAbilities();
  const isGone = (row: Row): boolean => props.isGone?.(row) === true;
  const onDone = (): void => {
    selection.clear();
    reload();
  };
  const batch: NameBatch<Row> = { selection, fetchPage, isGone, onDone };
  const deleteSelected = (): void => setDialog({ kind: "delete-batch", batch });
  const askToDelete = (row: Row): void => {
    if (!manage || isGone(row)) return;
    if (isAlone(selection, row)) setDialog({ kind: "delete", row });
    else deleteSelected();
  };
  const selectedActions = [deletion(deleteSelected)];
  const actionsOf = (row: Row): readonly MenuItem[] => {
    if (!isAlone(selection, row)) return selectedActions;
    const more = props.moreActions?.(row, reload) ?? [];
    if (isGone(row)) return more;
    return [...nameActions(props, row), ...more, deletion(() => askToDelete(row))];
  };
  const shared = { keyOf, selection, manage, isGone };
  return { ...shared, dialog, setDialog, askToDelete, selectedActions, actionsOf };
}

/** Lists the containers, tables, queues or shares of an account; creates and deletes them. */
export function NameList<Row extends Named>(props: NameListProps<Row>): JSX.Element {
  const filter = useFilter();
  const names = useNames(props, filter);
  const commands = useCommands(props, filter, names);
  const { manage, selection, dialog, setDialog } = commands;
  const { open: openMenu, menu } = useMenu();
  return (
    <>
      <NameBar props={props} onRefresh={names.reload} onDialog={setDialog} />
      <SelectionBar selection={selection} actions={commands.selectedActions} />
      <div class="work">
        <div class="list">
          <Listing
            label={props.many}
            list={names.list}
            filter={filter}
            onRefresh={names.isStale ? names.reload : undefined}
            empty={emptyText(props, manage)}
            columns={columnsOf(props)}
            keyOf={commands.keyOf}
            nameOf={props.describe ?? (({ name }) => name)}
            selection={manage ? selection : undefined}
            sorting={names.sorting}
            rowClass={(row) => (commands.isGone(row) ? "gone" : "")}
            onOpen={props.onOpen}
            onDelete={commands.askToDelete}
            onMenu={(row, at) => openMenu({ label: row.name, at, items: commands.actionsOf(row) })}
          />
        </div>
      </div>
      <NameDialogs
        {...props}
        dialog={dialog}
        onClose={() => setDialog(undefined)}
        onDone={names.reload}
      />
      {menu}
    </>
  );
}

function deletion(run: () => void): MenuItem {
  return { label: "Delete", icon: "trash", needs: "manage", isDangerous: true, run };
}

interface NameBarProps<Row extends Named> {
  readonly props: NameListProps<Row>;
  readonly onRefresh: () => void;
  readonly onDialog: (dialog: NameDialog<Row>) => void;
}

function NameBar<Row extends Named>({ props, ...on }: NameBarProps<Row>): JSX.Element {
  return (
    <div class="bar">
      <Crumbs crumbs={[{ words: props.many }]} />
      <Filter />
      {props.controls}
      <Button icon="refresh" label="Refresh" onClick={on.onRefresh} />
      <span data-new>
        <Button
          icon="plus"
          kind="main"
          needs="manage"
          onClick={() => on.onDialog({ kind: "create" })}
        >
          New {props.one}
        </Button>
      </span>
    </div>
  );
}

function emptyText({ one, many }: { one: string; many: string }, mayCreate: boolean): string {
  return `No ${many.toLowerCase()}.${mayCreate ? ` Create one with New ${one}.` : ""}`;
}

function columnsOf<Row extends Named>({
  icon,
  columns = [],
}: NameListProps<Row>): readonly Column<Row>[] {
  return [
    {
      title: "Name",
      width: "minmax(0, 3fr)",
      cell: ({ name }) => <EntryName icon={icon} text={name} isFolder />,
    },
    ...columns,
  ];
}
