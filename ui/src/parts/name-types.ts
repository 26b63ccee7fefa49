import type { ComponentChildren } from "preact";
import type { ServiceName } from "../admin/server.ts";
import type { Result } from "../result.ts";
import type { Page } from "../rest/container.ts";
import type { Column } from "./grid-types.ts";
import type { IconName } from "./icon.tsx";
import type { MenuItem } from "./menu.tsx";
import type { SortKeys } from "./sorting.ts";

export interface Named {
  readonly name: string;
}

export interface NameListProps<Row extends Named> {
  readonly account: string;
  readonly service: ServiceName;
  readonly one: string;
  readonly many: string;
  readonly icon: IconName;
  readonly hint: string;
  readonly columns?: readonly Column<Row>[];
  /** Columns to sort by, besides the name. */
  readonly sortKeys?: SortKeys<Row>;
  /** Further controls above the list. */
  readonly controls?: ComponentChildren;
  readonly list: (options: {
    readonly prefix: string;
    readonly marker: string | undefined;
  }) => Promise<Result<Page<Row>>>;
  /** What `list` depends on, besides the account. */
  readonly variant?: unknown;
  readonly create: (name: string, values: FormData) => Promise<Result<unknown>>;
  /** Further fields of the dialog that creates one. */
  readonly createFields?: ComponentChildren;
  readonly remove: (row: Row) => Promise<Result<unknown>>;
  /** How a row is named when it is deleted; its name by default. */
  readonly describe?: (row: Row) => string;
  readonly onOpen: (row: Row) => void;
  /** The path of a row below the endpoint of its service, to copy its URL. */
  readonly urlOf: (row: Row) => { readonly service: string; readonly path: string };
  readonly keyOf?: (row: Row) => string;
  /** Further commands of a row. */
  readonly moreActions?: (row: Row, reload: () => void) => readonly MenuItem[];
  /** Whether the row was deleted before: it has only the further commands. */
  readonly isGone?: (row: Row) => boolean;
}
