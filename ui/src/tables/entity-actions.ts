import type { FetchPage } from "../parts/arranged-pages.ts";
import type { MenuItem } from "../parts/menu.tsx";
import type { Paged } from "../parts/use-paged.ts";
import { isAlone, type Selection } from "../parts/selection.ts";
import type { Sorting } from "../parts/sorting.ts";
import type { Entity } from "../rest/entity.ts";
import type { TableAddress } from "../rest/table.ts";
import { countEntities, type EntityBatch } from "./bulk.ts";

export type TableDialog =
  | { readonly kind: "export" | "import" | "columns" }
  | { readonly kind: "delete" | "change"; readonly batch: EntityBatch };

/** The list of entities, and its pages in the order of the service, for jobs. */
export interface Entities extends Paged<Entity> {
  readonly fetchPage: FetchPage<Entity>;
  readonly sorting: Sorting;
  readonly isStale: boolean;
}

export interface ActionContext {
  readonly address: TableAddress;
  readonly selection: Selection<Entity>;
  readonly entities: Entities;
  readonly onDialog: (dialog: TableDialog) => void;
  readonly onOpen: (entity: Entity) => void;
}

export function selectedActions(
  { address, entities, onDialog, ...context }: ActionContext,
  selection: EntityBatch["selection"],
): readonly MenuItem[] {
  const onDone = (): void => {
    context.selection.clear();
    entities.reload();
  };
  const batch: EntityBatch = { table: address, selection, fetchPage: entities.fetchPage, onDone };
  return [
    {
      label: "Change",
      icon: "edit",
      needs: "write",
      run: () => onDialog({ kind: "change", batch }),
    },
    { label: "Count", icon: "count", needs: "read", run: () => countEntities(batch) },
    {
      label: "Delete",
      icon: "trash",
      needs: "delete",
      isDangerous: true,
      run: () => onDialog({ kind: "delete", batch }),
    },
  ];
}

function only(entity: Entity): EntityBatch["selection"] {
  return { isAll: false, rows: [entity], has: (row) => row === entity };
}

export function actionsOf(context: ActionContext, entity: Entity): readonly MenuItem[] {
  if (!isAlone(context.selection, entity)) return selectedActions(context, context.selection);
  const run = (): void => context.onOpen(entity);
  const open: MenuItem = { label: "Open", icon: "file", needs: "read", run };
  const [change, , remove] = selectedActions(context, only(entity));
  return [open, change, remove].filter((item) => item !== undefined);
}

export function askToDelete(context: ActionContext, entity: Entity): void {
  const { selection } = context;
  const chosen = selection.has(entity) ? selection : only(entity);
  selectedActions(context, chosen).at(-1)?.run();
}
