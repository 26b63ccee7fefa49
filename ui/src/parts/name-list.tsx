import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import { Button } from "./button.tsx";
import { Crumbs } from "./crumbs.tsx";
import { Filter } from "./filter.tsx";
import type { Column } from "./grid.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Listing } from "./listing.tsx";
import { namedPages } from "./arranged-pages.ts";
import { NameDialogs } from "./name-dialogs.tsx";
import { noFilter } from "./name-filter.ts";
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
  readonly remove: (name: string) => Promise<Result<unknown>>;
  readonly onOpen: (row: Row) => void;
  readonly keyOf?: (row: Row) => string;
}

/** Lists the tables, queues or shares of an account; creates and deletes them. */
export function NameList<Row extends Named>(props: NameListProps<Row>): JSX.Element {
  const [filter, setFilter] = useState(noFilter);
  const [isCreating, setCreating] = useState(false);
  const [toDelete, setToDelete] = useState<string>();
  const { list, reload } = usePaged(
    namedPages(filter, (prefix, marker) => props.list({ prefix, marker })),
    [props.account, props.one, filter],
  );
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
            columns={columnsOf(props, setToDelete)}
            keyOf={props.keyOf ?? (({ name }) => name)}
            onOpen={props.onOpen}
            onDelete={({ name }) => setToDelete(name)}
          />
        </div>
      </div>
      <NameDialogs
        {...props}
        isCreating={isCreating}
        toDelete={toDelete}
        onClose={close}
        onDone={reload}
      />
    </>
  );
}

function columnsOf<Row extends Named>(
  { icon, columns = [] }: NameListProps<Row>,
  onDelete: (name: string) => void,
): readonly Column<Row>[] {
  return [
    {
      title: "Name",
      width: "minmax(0, 3fr)",
      cell: ({ name }) => (
        <span class="name folder">
          <Icon name={icon} />
          <span>{name}</span>
        </span>
      ),
    },
    ...columns,
    {
      title: "Actions",
      isTitleHidden: true,
      width: "3rem",
      align: "end",
      cell: ({ name }) => (
        <Button kind="quiet" icon="trash" label={`Delete ${name}`} onClick={() => onDelete(name)} />
      ),
    },
  ];
}
