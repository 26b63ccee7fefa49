import type { ComponentChildren } from "preact";
import type { Point } from "./menu.tsx";
import type { Selection } from "./selection.ts";
import type { Sorting } from "./sorting.ts";

export interface Column<Row> {
  readonly title: string;
  /** Shown in smaller letters beside the title. */
  readonly note?: string | undefined;
  /** Whether the title is only for screen readers. */
  readonly isTitleHidden?: boolean;
  /** A track of a CSS grid: `2fr`, `8rem`. */
  readonly width: string;
  readonly align?: "end";
  /** Whether the column is hidden where names would have too little space; the leftmost first, and
   *  `last` after all others. */
  readonly isMinor?: boolean | "last";
  readonly cell: (row: Row) => ComponentChildren;
}

export interface Rows<Row> {
  readonly count: number;
  readonly rowAt: (index: number) => Row | undefined;
  readonly need?: (first: number, last: number) => void;
  /** Loads all rows; those that are known are shown meanwhile. */
  readonly needAll?: () => void;
  /** Identifies the list. After a reload it is another one, with other rows. */
  readonly source?: unknown;
}

interface Dragging<Row> {
  /** Whether rows can be dropped on this one: it is a folder. */
  readonly isTarget: (row: Row) => boolean;
  readonly onDrop: (dragged: Row, target: Row, isCopy: boolean) => void;
}

export interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly keyOf: (row: Row) => string;
  readonly active?: string | undefined;
  /** With a selection the list has a column of check boxes. */
  readonly selection?: Selection<Row> | undefined;
  readonly nameOf?: (row: Row) => string;
  readonly sorting?: Sorting | undefined;
  readonly onOpen?: (row: Row) => void;
  readonly onDelete?: (row: Row) => void;
  readonly onRename?: ((row: Row) => void) | undefined;
  /** Opens the menu of a row; with it the list has a column of menu buttons. */
  readonly onMenu?: ((row: Row, at: Point) => void) | undefined;
  /** Copies or cuts the row, or the selection that it belongs to; pastes what was cut or copied. */
  readonly onCopy?: ((row: Row) => void) | undefined;
  readonly onCut?: ((row: Row) => void) | undefined;
  readonly onPaste?: (() => void) | undefined;
  /** With it, rows can be dragged to others. */
  readonly dragging?: Dragging<Row> | undefined;
  readonly rowClass?: (row: Row) => string;
  /** If the space is narrower than this, the list scrolls horizontally. */
  readonly minWidth?: string;
  /** Whether the list takes over the keyboard focus from the previous list. */
  readonly inheritsFocus?: boolean;
}

/** Elements that handle clicks and keys themselves. */
const controls = "button, a, input, select, textarea, dialog";

export function isControl(event: Event): boolean {
  return event.target instanceof Element && event.target.closest(controls) !== null;
}
