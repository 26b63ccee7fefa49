import { isControl, type GridProps } from "./grid-types.ts";
import type { Point } from "./menu.tsx";

interface KeyTarget<Row> {
  /** Index of the row with the cursor. */
  readonly at: number;
  readonly pageRows: number;
  readonly move: (to: number) => void;
  readonly toEnd: () => void;
  /** Selects the rows from the anchor, or from the cursor without one, to a row. */
  readonly extendTo: (to: number) => void;
  readonly toggle: (at: number) => void;
  readonly menuPoint: () => Point;
  readonly props: GridProps<Row>;
}

/** Handles a key that is pressed in a list. */
export function pressInGrid<Row>(event: KeyboardEvent, target: KeyTarget<Row>): void {
  if (event.target !== event.currentTarget && isControl(event)) return;
  if (walk(event, target) || act(event, target)) event.preventDefault();
}

function walk<Row>(event: KeyboardEvent, target: KeyTarget<Row>): boolean {
  const { at, pageRows, props } = target;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + pageRows,
    PageUp: at - pageRows,
    Home: 0,
    End: props.rows.count - 1,
  };
  const to = targets[event.key];
  if (to === undefined) return false;
  if (event.shiftKey) target.extendTo(to);
  if (event.key === "End") target.toEnd();
  else target.move(to);
  return true;
}

function act<Row>(event: KeyboardEvent, target: KeyTarget<Row>): boolean {
  const { at, props } = target;
  const row = props.rows.rowAt(at);
  const hasModifier = event.ctrlKey || event.metaKey;
  if (hasModifier && event.key.toLowerCase() === "a") {
    props.selection?.selectAll();
    return props.selection !== undefined;
  }
  if (hasModifier && event.key.toLowerCase() === "v" && props.onPaste !== undefined) {
    props.onPaste();
    return true;
  }
  if (row !== undefined && hasModifier) return takeRow(event, props, row);
  if (row === undefined) return false;
  const isMenuKey = event.key === "ContextMenu" || (event.shiftKey && event.key === "F10");
  if (event.key === "Enter") props.onOpen?.(row);
  else if (event.key === " " && event.shiftKey) target.extendTo(at);
  else if (event.key === " ") target.toggle(at);
  else if (event.key === "Delete") props.onDelete?.(row);
  else if (event.key === "F2") props.onRename?.(row);
  else if (isMenuKey && props.onMenu !== undefined) props.onMenu(row, target.menuPoint());
  else return false;
  return true;
}

/** Ctrl+C and Ctrl+X. A selected text is copied by the browser. */
function takeRow<Row>(event: KeyboardEvent, props: GridProps<Row>, row: Row): boolean {
  const key = event.key.toLowerCase();
  const take = key === "c" ? props.onCopy : key === "x" ? props.onCut : undefined;
  if (take === undefined || getSelection()?.isCollapsed === false) return false;
  take(row);
  return true;
}
