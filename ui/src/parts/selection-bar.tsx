import type { JSX } from "preact";
import { bytes, count, plural } from "../format.ts";
import { Button } from "./button.tsx";
import type { MenuItem } from "./menu.tsx";
import type { Selection } from "./selection.ts";

interface SelectionBarProps<Row> {
  readonly selection: Selection<Row>;
  /** Bytes of a row, for the sum; undefined if rows have no size. */
  readonly sizeOf?: (row: Row) => number | undefined;
  readonly actions: readonly MenuItem[];
}

/** The number of selected rows, and the commands for them. */
export function SelectionBar<Row>(props: SelectionBarProps<Row>): JSX.Element | null {
  const { selection, sizeOf, actions } = props;
  if (selection.isEmpty) return null;
  const sizes = selection.rows.map((row) => sizeOf?.(row));
  const sum = sizes.reduce<number>((total, size) => total + (size ?? 0), 0);
  const note = sizes.includes(undefined) ? " without folders" : "";
  const size = sizeOf === undefined || selection.isAll ? "" : `, ${bytes(sum)}${note}`;
  return (
    <div class="selection-bar" role="toolbar" aria-label="Selection">
      <span role="status">
        {words(selection)}
        {size}
      </span>
      {actions.map(({ label, icon, isDangerous, needs, run }) => (
        <Button
          key={label}
          icon={icon}
          needs={needs}
          kind={isDangerous === true ? "danger" : "plain"}
          onClick={run}
        >
          {label}
        </Button>
      ))}
      <Button kind="quiet" icon="close" label="Clear selection" onClick={selection.clear} />
    </div>
  );
}

function words<Row>({ isAll, rows }: Selection<Row>): string {
  if (!isAll) return `${count(rows.length)} selected`;
  return rows.length === 0 ? "All selected" : `All but ${plural(rows.length, "entry", "entries")}`;
}
