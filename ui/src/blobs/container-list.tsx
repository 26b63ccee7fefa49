import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useHierarchical } from "../accounts.ts";
import { moment } from "../format.ts";
import { namedPages } from "../parts/arranged-pages.ts";
import { Button } from "../parts/button.tsx";
import { copyUrl } from "../parts/copy-url.ts";
import { Crumbs } from "../parts/crumbs.tsx";
import { Filter } from "../parts/filter.tsx";
import { EntryName } from "../parts/entry-name.tsx";
import type { Column } from "../parts/grid.tsx";
import { Listing } from "../parts/listing.tsx";
import { NameDialogs } from "../parts/name-dialogs.tsx";
import type { MenuItem } from "../parts/menu.tsx";
import { noFilter, type NameFilter } from "../parts/name-filter.ts";
import type { PagedList } from "../parts/paged-list.ts";
import { useMenu } from "../parts/use-menu.tsx";
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
import { countContainer } from "./blob-actions.ts";
import { detailsRoute, tagSearchRoute } from "./blob-route.ts";

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
          <Containers
            account={account}
            list={list}
            filter={filter}
            onDelete={setToDelete}
            onChanged={reload}
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

interface ContainersProps {
  readonly account: string;
  readonly list: PagedList<Container>;
  readonly filter: NameFilter;
  readonly onDelete: (row: Container) => void;
  readonly onChanged: () => void;
}

function Containers(props: ContainersProps): JSX.Element {
  const { account, list, filter, onDelete } = props;
  const { open: openMenu, menu } = useMenu();
  return (
    <>
      <Listing
        label="Containers"
        list={list}
        filter={filter}
        empty="No containers. Create one with New container."
        columns={columns}
        keyOf={({ name, version }) => `${name}${version ?? ""}`}
        nameOf={({ name }) => name}
        rowClass={({ isDeleted }) => (isDeleted ? "gone" : "")}
        onOpen={(row) => openContainer(account, row)}
        onDelete={(row) => {
          if (!row.isDeleted) onDelete(row);
        }}
        onMenu={(row, at) => openMenu({ label: row.name, at, items: actionsOf(props, row) })}
      />
      {menu}
    </>
  );
}

function actionsOf(
  { account, onDelete, onChanged }: ContainersProps,
  row: Container,
): readonly MenuItem[] {
  const { name, version = "" } = row;
  const restore = async (): Promise<void> => {
    const result = await restoreContainer(account, { name, version });
    if (report(result, `Container ${name} restored`)) onChanged();
  };
  if (row.isDeleted) return [{ label: "Restore", icon: "restore", run: () => void restore() }];
  const details = detailsRoute({ account, container: name, prefix: "" });
  return [
    { label: "Open", icon: "file", run: () => openContainer(account, row) },
    { label: "Details", icon: "lock", run: () => go(details) },
    { label: "Copy URL", icon: "link", run: () => void copyUrl("blob", account, [name]) },
    { label: "Count blobs", icon: "count", run: () => countContainer(account, name) },
    { label: "Delete", icon: "trash", isDangerous: true, run: () => onDelete(row) },
  ];
}

const columns: readonly Column<Container>[] = [
  { title: "Name", width: "minmax(0, 3fr)", cell: nameCell },
  { title: "State", width: "12rem", isMinor: true, cell: stateCell },
  {
    title: "Modified",
    width: "11rem",
    isMinor: true,
    cell: ({ lastModified }) => moment(lastModified),
  },
];

function nameCell({ name }: Container): JSX.Element {
  return <EntryName icon="blobs" text={name} isFolder />;
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
