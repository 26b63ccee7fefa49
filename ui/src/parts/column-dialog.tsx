import type { JSX } from "preact";
import { useQueryValue } from "../route.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Check } from "./field.tsx";
import type { Column } from "./grid-types.ts";

interface Columns {
  /** Titles of the columns that the user wants to see. */
  readonly chosen: readonly string[];
  readonly choose: (titles: readonly string[]) => void;
  readonly reset: () => void;
  /** The first column, which has the name, and the chosen ones. */
  readonly shown: <Row>(columns: readonly Column<Row>[]) => readonly Column<Row>[];
}

/** The chosen columns of a list: those in the address, or the last choice in this browser. */
export function useColumns(list: string, byDefault: readonly string[]): Columns {
  const key = `etagere-columns ${list}`;
  const kept = localStorage.getItem(key) ?? byDefault.join(",");
  const [value, setValue] = useQueryValue("columns");
  const chosen = (value === "" ? kept : value).split(",");
  const change = (titles: readonly string[]): void => {
    // Without any, a name that no column has: an empty value is the default.
    const next = titles.join(",") || "none";
    localStorage.setItem(key, next);
    setValue(next);
  };
  return {
    chosen,
    choose: change,
    reset: () => {
      localStorage.removeItem(key);
      setValue("");
    },
    shown: (columns) => columns.filter(({ title }, index) => index === 0 || chosen.includes(title)),
  };
}

interface ColumnDialogProps {
  /** All columns that can be chosen. */
  readonly names: readonly string[];
  readonly columns: Columns;
  readonly onClose: () => void;
}

/** Chooses the columns of a list. */
export function ColumnDialog({ names, columns, onClose }: ColumnDialogProps): JSX.Element {
  const { chosen, choose } = columns;
  const toggle = (name: string, isShown: boolean): void =>
    choose(names.filter((one) => (one === name ? isShown : chosen.includes(one))));
  return (
    <Dialog title="Columns" onClose={onClose}>
      <div class="form">
        {names.length === 0 && <p>The rows have no further columns.</p>}
        {names.map((name) => (
          <Check
            key={name}
            checked={chosen.includes(name)}
            onChange={(isShown) => toggle(name, isShown)}
          >
            {name}
          </Check>
        ))}
        <footer class="dialog-foot">
          <Button onClick={() => choose(names)}>Show all</Button>
          <Button onClick={() => choose([])}>Hide all</Button>
          <Button onClick={columns.reset}>Default</Button>
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        </footer>
      </div>
    </Dialog>
  );
}
