import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { done, type Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import { Button } from "./button.tsx";
import { copyUrl } from "./copy-url.ts";
import { Crumbs } from "./crumbs.tsx";
import { Filter } from "./filter.tsx";
import type { Column } from "./grid.tsx";
import { EntryName } from "./entry-name.tsx";
import type { IconName } from "./icon.tsx";
import { Listing } from "./listing.tsx";
import { namedPages } from "./arranged-pages.ts";
import { NameDialogs } from "./name-dialogs.tsx";
import { noFilter } from "./name-filter.ts";
import type { MenuItem } from "./menu.tsx";
import { useMenu } from "./use-menu.tsx";
import { usePaged } from "./use-paged.ts";

export interface Named {
  readonly name: string;
}

export interface NameListProps<Row extends Named> {
  readonly account: string;
  readonly one: string;
  readonly many: string;
  readonly icon: IconName;
  readonly hint: string;
  readonly columns?: readonly Column<Row>[];
  readonly list: (options: {
    readonly prefix: string;
    readonly marker: string | undefined;
  }) => Promise<Result<Page<Row>>>;
  readonly create: (name: string) => Promise<Result<unknown>>;
  readonly remove: (row: Row) => Promise<Result<unknown>>;
  /** How a row is named when it is deleted; its name by default. */
  readonly describe?: (row: Row) => string;
  readonly onOpen: (row: Row) => void;
  /** The path of a row below the endpoint of its service, to copy its URL. */
  readonly urlOf: (row: Row) => { readonly service: string; readonly path: string };
  readonly keyOf?: (row: Row) => string;
}

/** Lists the tables, queues or shares of an account; creates and deletes them. */
export function NameList<Row extends Named>(props: NameListProps<Row>): JSX.Element {
  const [filter, setFilter] = useState(noFilter);
  const [isCreating, setCreating] = useState(false);
  const [toDelete, setToDelete] = useState<Row>();
  const { list, reload } = usePaged(
    namedPages(filter, (prefix, marker) => props.list({ prefix, marker })),
    [props.account, props.one, filter],
  );
  const { open: openMenu, menu } = useMenu();
  const close = (): void => {
    setCreating(false);
    setToDelete(undefined);
  };
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: props.many }]} />
        <Filter onChange={setFilter} />
        <Button icon="refresh" label="Refresh" onClick={reload} />
        <span data-new>
          <Button icon="plus" kind="main" onClick={() => setCreating(true)}>
            New {props.one}
          </Button>
        </span>
      </div>
      <div class="work">
        <div class="list">
          <Listing
            label={props.many}
            list={list}
            filter={filter}
            empty={`No ${props.many.toLowerCase()}. Create one with New ${props.one}.`}
            columns={columnsOf(props)}
            keyOf={props.keyOf ?? (({ name }) => name)}
            onOpen={props.onOpen}
            onDelete={setToDelete}
            nameOf={({ name }) => name}
            onMenu={(row, at) =>
              openMenu({ label: row.name, at, items: actionsOf(props, row, setToDelete) })
            }
          />
        </div>
      </div>
      <NameDialogs
        {...props}
        isCreating={isCreating}
        toDelete={toDelete && (props.describe?.(toDelete) ?? toDelete.name)}
        remove={() => removeRow(props, toDelete)}
        onClose={close}
        onDone={reload}
      />
      {menu}
    </>
  );
}

function removeRow<Row extends Named>(
  { remove }: NameListProps<Row>,
  row: Row | undefined,
): Promise<Result<unknown>> {
  return row === undefined ? Promise.resolve(done(undefined)) : remove(row);
}

function actionsOf<Row extends Named>(
  { account, onOpen, urlOf }: NameListProps<Row>,
  row: Row,
  onDelete: (row: Row) => void,
): readonly MenuItem[] {
  const { service, path } = urlOf(row);
  return [
    { label: "Open", icon: "file", run: () => onOpen(row) },
    { label: "Copy URL", icon: "link", run: () => void copyUrl(service, account, [path]) },
    { label: "Delete", icon: "trash", isDangerous: true, run: () => onDelete(row) },
  ];
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
