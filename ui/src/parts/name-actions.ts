import { plural } from "../format.ts";
import { startJob } from "../jobs/jobs.ts";
import type { Result } from "../result.ts";
import { everyRow, type FetchPage } from "./arranged-pages.ts";
import { copyUrl } from "./copy-url.ts";
import type { MenuItem } from "./menu.tsx";
import type { Named, NameListProps } from "./name-types.ts";
import { selectedRows, type Selection } from "./selection.ts";

/** Selected containers, tables, queues or shares. */
export interface NameBatch<Row> {
  readonly selection: Pick<Selection<Row>, "isAll" | "rows" | "has">;
  /** The list from which Select all selects. */
  readonly fetchPage: FetchPage<Row>;
  /** Rows that are deleted already are left out. */
  readonly isGone: (row: Row) => boolean;
  readonly onDone: () => void;
}

/** The commands of a row that read. */
export function nameActions<Row extends Named>(
  { account, onOpen, urlOf }: Pick<NameListProps<Row>, "account" | "onOpen" | "urlOf">,
  row: Row,
): readonly MenuItem[] {
  const { service, path } = urlOf(row);
  return [
    { label: "Open", icon: "file", needs: "read", run: () => onOpen(row) },
    {
      label: "Copy URL",
      icon: "link",
      needs: "read",
      run: () => void copyUrl(service, account, [path]),
    },
  ];
}

export function describeNames<Row extends Named>(
  { selection: { isAll, rows } }: NameBatch<Row>,
  { one, many }: { readonly one: string; readonly many: string },
): string {
  if (isAll) return `all selected ${many.toLowerCase()}`;
  return plural(rows.length, one, many.toLowerCase());
}

interface NameDeletion<Row> {
  readonly title: string;
  readonly remove: (row: Row) => Promise<Result<unknown>>;
}

/** Deletes the rows as a job. */
export function deleteNames<Row extends Named>(
  batch: NameBatch<Row>,
  { title, remove }: NameDeletion<Row>,
): void {
  const { selection, fetchPage, isGone, onDone } = batch;
  startJob<Row>({
    title,
    items: async function* ({ signal }) {
      for await (const row of selectedRows(selection, () => everyRow(fetchPage, signal))) {
        if (!row.ok || !isGone(row.value)) yield row;
      }
    },
    nameOf: ({ name }) => name,
    run: remove,
    onDone,
  });
}
