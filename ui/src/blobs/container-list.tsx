import type { JSX } from "preact";
import { useHierarchical } from "../accounts.ts";
import { moment } from "../format.ts";
import { useAbilities } from "../parts/abilities.ts";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/field.tsx";
import { textIn } from "../parts/form-values.ts";
import type { Column } from "../parts/grid.tsx";
import type { MenuItem } from "../parts/menu.tsx";
import { NameList } from "../parts/name-list.tsx";
import { report } from "../parts/notices.tsx";
import { Badge } from "../parts/states.tsx";
import type { SortKeys } from "../parts/sorting.ts";
import {
  accessLevels,
  createContainer,
  deleteContainer,
  listContainers,
  restoreContainer,
  type Container,
} from "../rest/container.ts";
import { formatRoute, go, useQueryValue } from "../route.ts";
import { countContainer } from "./blob-actions.ts";
import { detailsRoute, tagSearchRoute } from "./blob-route.ts";

/** Lists the containers of an account; creates, deletes and restores them. */
export function ContainerList({ account }: { readonly account: string }): JSX.Element {
  const [deleted, setDeleted] = useQueryValue("deleted");
  const withDeleted = deleted !== "";
  return (
    <NameList<Container>
      account={account}
      service="blob"
      one="container"
      many="Containers"
      icon="blobs"
      hint="a–z, 0–9 and single hyphens"
      columns={columns}
      sortKeys={sortKeys}
      controls={
        <>
          <Button pressed={withDeleted} onClick={() => setDeleted(withDeleted ? "" : "1")}>
            Deleted
          </Button>
          <TagSearchLink account={account} />
        </>
      }
      list={(options) => listContainers(account, { ...options, withDeleted })}
      variant={withDeleted}
      create={(name, values) => createContainer(account, name, textIn(values, "level"))}
      createFields={<Choice label="Access level" name="level" options={accessLevels} />}
      remove={({ name }) => deleteContainer(account, name)}
      keyOf={({ name, version }) => `${name}${version ?? ""}`}
      urlOf={({ name }) => ({ service: "blob", path: name })}
      isGone={({ isDeleted }) => isDeleted}
      moreActions={(row, reload) => actionsOf(account, row, reload)}
      onOpen={({ name, isDeleted }) => {
        if (!isDeleted) go(formatRoute("blobs", [account, name]));
      }}
    />
  );
}

/** Hierarchical accounts have no tags. */
function TagSearchLink({ account }: { readonly account: string }): JSX.Element | null {
  const isHierarchical = useHierarchical(account);
  const { tag } = useAbilities();
  if (isHierarchical || !tag) return null;
  return (
    <a class="button" href={tagSearchRoute(account, "")}>
      Find by tags
    </a>
  );
}

function actionsOf(
  account: string,
  { name, version = "", isDeleted }: Container,
  reload: () => void,
): readonly MenuItem[] {
  const restore = async (): Promise<void> => {
    const result = await restoreContainer(account, { name, version });
    if (report(result, `Container ${name} restored`)) reload();
  };
  if (isDeleted) {
    return [{ label: "Restore", icon: "restore", needs: "manage", run: () => void restore() }];
  }
  const details = detailsRoute({ account, container: name, prefix: "" });
  return [
    { label: "Details", icon: "lock", needs: "read", run: () => go(details) },
    {
      label: "Count blobs",
      icon: "count",
      needs: "read",
      run: () => countContainer(account, name),
    },
  ];
}

const sortKeys: SortKeys<Container> = {
  Modified: ({ lastModified }) => Date.parse(lastModified) || 0,
};

const columns: readonly Column<Container>[] = [
  { title: "State", width: "12rem", isMinor: true, cell: stateCell },
  {
    title: "Modified",
    width: "11rem",
    isMinor: true,
    cell: ({ lastModified }) => moment(lastModified),
  },
];

function stateCell({ leaseState, publicAccess, isDeleted }: Container): JSX.Element {
  return (
    <>
      {isDeleted && <Badge tone="bad">deleted</Badge>}{" "}
      {leaseState === "leased" && <Badge tone="warn">leased</Badge>}{" "}
      {publicAccess !== "" && <Badge tone="accent">public: {publicAccess}</Badge>}
    </>
  );
}
