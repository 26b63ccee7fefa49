import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { moment } from "../format.ts";
import { namedPages } from "../parts/arranged-pages.ts";
import { Button } from "../parts/button.tsx";
import { Crumbs } from "../parts/crumbs.tsx";
import { Filter } from "../parts/filter.tsx";
import type { Column } from "../parts/grid.tsx";
import { Icon } from "../parts/icon.tsx";
import { Listing } from "../parts/listing.tsx";
import { NameDialogs } from "../parts/name-dialogs.tsx";
import { noFilter } from "../parts/name-filter.ts";
import { report } from "../parts/notices.tsx";
import { Badge } from "../parts/states.tsx";
import { usePaged } from "../parts/use-paged.ts";
import {
  createContainer,
  deleteContainer,
  listContainers,
  restoreContainer,
  type Container,
} from "../rest/container.ts";
import { formatRoute, go } from "../route.ts";
import { tagSearchRoute } from "./blob-route.ts";

/** Lists the containers of an account; creates, deletes and restores them. */
export function ContainerList({ account }: { readonly account: string }): JSX.Element {
  const [filter, setFilter] = useState(noFilter);
  const [withDeleted, setWithDeleted] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const [toDelete, setToDelete] = useState<Container>();
  const { list, reload } = usePaged(
    namedPages(filter, (prefix, marker) =>
      listContainers(account, { prefix, marker, withDeleted }),
    ),
    [account, filter, withDeleted],
  );
  const close = (): void => {
    setCreating(false);
    setToDelete(undefined);
  };
  return (
    <>
      <div class="bar">
        <Crumbs crumbs={[{ words: "Containers" }]} />
        <Filter onChange={setFilter} />
        <Button pressed={withDeleted} onClick={() => setWithDeleted(!withDeleted)}>
          Deleted
        </Button>
        <TagSearchLink account={account} />
        <Button icon="refresh" label="Refresh" onClick={reload} />
        <span data-new>
          <Button icon="plus" kind="main" onClick={() => setCreating(true)}>
            New container
          </Button>
        </span>
      </div>
      <div class="work">
        <div class="list">
          <Listing
            label="Containers"
            list={list}
            filter={filter}
            empty="No containers. Create one with New container."
            columns={columnsOf(account, { onDelete: setToDelete, reload })}
            keyOf={({ name, version }) => `${name}${version ?? ""}`}
            rowClass={({ isDeleted }) => (isDeleted ? "gone" : "")}
            onOpen={(row) => openContainer(account, row)}
            onDelete={setToDelete}
          />
        </div>
      </div>
      <NameDialogs
        one="container"
        hint="a–z, 0–9 and single hyphens"
        isCreating={isCreating}
        toDelete={toDelete?.name}
        create={(name) => createContainer(account, name)}
        remove={(name) => deleteContainer(account, name)}
        onClose={close}
        onDone={reload}
      />
    </>
  );
}

function openContainer(account: string, { name, isDeleted }: Container): void {
  if (!isDeleted) go(formatRoute("blobs", [account, name]));
}

/** Hierarchical accounts have no tags. */
function TagSearchLink({ account }: { readonly account: string }): JSX.Element | null {
  const isHierarchical = useHierarchical(account);
  if (isHierarchical) return null;
  return (
    <a class="button" href={tagSearchRoute(account, "")}>
      Find by tags
    </a>
  );
}

interface Actions {
  readonly onDelete: (row: Container) => void;
  readonly reload: () => void;
}

function columnsOf(account: string, { onDelete, reload }: Actions): readonly Column<Container>[] {
  const restore = async ({ name, version = "" }: Container): Promise<void> => {
    const result = await restoreContainer(account, { name, version });
    if (report(result, `Container ${name} restored`)) reload();
  };
  return [
    { title: "Name", width: "minmax(0, 3fr)", cell: nameCell },
    { title: "State", width: "12rem", isMinor: true, cell: stateCell },
    {
      title: "Modified",
      width: "11rem",
      isMinor: true,
      cell: ({ lastModified }) => moment(lastModified),
    },
    {
      title: "Actions",
      isTitleHidden: true,
      width: "3rem",
      align: "end",
      cell: (row) =>
        row.isDeleted ? (
          <Button
            kind="quiet"
            icon="restore"
            label={`Restore ${row.name}`}
            onClick={() => void restore(row)}
          />
        ) : (
          <Button
            kind="quiet"
            icon="trash"
            label={`Delete ${row.name}`}
            onClick={() => onDelete(row)}
          />
        ),
    },
  ];
}

function nameCell({ name }: Container): JSX.Element {
  return (
    <span class="name folder">
      <Icon name="blobs" />
      <span>{name}</span>
    </span>
  );
}

function stateCell({ leaseState, publicAccess, isDeleted }: Container): JSX.Element {
  return (
    <>
      {isDeleted && <Badge tone="bad">deleted</Badge>}{" "}
      {leaseState === "leased" && <Badge tone="warn">leased</Badge>}{" "}
      {publicAccess !== "" && <Badge tone="accent">public: {publicAccess}</Badge>}
    </>
  );
}
