import type { HTMLAttributes, JSX } from "preact";
import { Button } from "./button.tsx";
import { cellClass } from "./grid-head.tsx";
import { isControl, type Column, type GridProps } from "./grid-types.ts";

interface GridRowProps<Row> {
  readonly id: string;
  readonly index: number;
  readonly isCursor: boolean;
  readonly template: string;
  readonly grid: GridProps<Row>;
  readonly columns: readonly Column<Row>[];
  readonly onPoint: () => void;
  readonly onToggle: () => void;
  readonly onExtend: () => void;
}

export function GridRow<Row>(props: GridRowProps<Row>): JSX.Element {
  const { id, index, isCursor, template, grid } = props;
  const row = grid.rows.rowAt(index);
  const isSelected = row !== undefined && grid.selection?.has(row) === true;
  const isActive = row !== undefined && grid.keyOf(row) === grid.active;
  const own = row === undefined ? "pending" : (grid.rowClass?.(row) ?? "");
  const click = (event: MouseEvent): void => {
    if (row === undefined || isControl(event)) return props.onPoint();
    if (grid.selection !== undefined && event.shiftKey) return props.onExtend();
    props.onPoint();
    if (event.ctrlKey || event.metaKey) props.onToggle();
    else grid.onOpen?.(row);
  };
  const openMenu = (event: MouseEvent): void => {
    if (row === undefined || grid.onMenu === undefined) return;
    event.preventDefault();
    props.onPoint();
    grid.onMenu(row, { x: event.clientX, y: event.clientY });
  };
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected || isActive}
      class={`grid-row ${own}${isCursor ? " cursor" : ""}${isActive ? " active" : ""}`}
      style={{ "--columns": template }}
      onClick={click}
      onMouseDown={(event) => {
        // Shift and a click would also select text.
        if (event.shiftKey && grid.selection !== undefined) event.preventDefault();
      }}
      onContextMenu={openMenu}
      {...dragProps(grid, row)}
    >
      {props.columns.map(({ title, cell, align }) => (
        <div key={title} role="gridcell" class={cellClass(align)}>
          {row === undefined ? "…" : (ownCell(title, row, props) ?? cell(row))}
        </div>
      ))}
    </div>
  );
}

let draggedRow: unknown;

/** What makes a row draggable, and a folder a place to drop rows. */
function dragProps<Row>(
  { dragging }: GridProps<Row>,
  row: Row | undefined,
): HTMLAttributes<HTMLDivElement> {
  if (dragging === undefined || row === undefined) return {};
  const begin = (event: DragEvent): void => {
    draggedRow = row;
    event.dataTransfer?.setData(rowType, "");
    if (event.dataTransfer !== null) event.dataTransfer.effectAllowed = "copyMove";
  };
  if (!dragging.isTarget(row)) return { draggable: true, onDragStart: begin };
  const isDragged = ({ dataTransfer }: DragEvent): boolean =>
    dataTransfer?.types.includes(rowType) === true;
  return {
    draggable: true,
    onDragStart: begin,
    onDragOver: (event) => {
      if (isDragged(event)) event.preventDefault();
    },
    onDrop: (event) => {
      if (!isDragged(event) || draggedRow === row) return;
      event.preventDefault();
      event.stopPropagation();
      dragging.onDrop(draggedRow as Row, row, event.ctrlKey);
    },
  };
}

const rowType = "application/x-etagere-row";

/** Columns that the list itself adds; their cells depend on the position of the row. */
const selectTitle = "Select";
const menuTitle = "Actions";

export function ownColumns<Row>({
  selection,
  onMenu,
}: GridProps<Row>): readonly [readonly Column<Row>[], readonly Column<Row>[]] {
  const common = { isTitleHidden: true, cell: () => null } as const;
  return [
    selection === undefined ? [] : [{ ...common, title: selectTitle, width: "1.5rem" }],
    onMenu === undefined ? [] : [{ ...common, title: menuTitle, width: "2.25rem", align: "end" }],
  ];
}

function ownCell<Row>(title: string, row: Row, props: GridRowProps<Row>): JSX.Element | undefined {
  const { grid } = props;
  const name = (grid.nameOf ?? grid.keyOf)(row);
  if (title === selectTitle && grid.selection !== undefined) {
    return (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={`Select ${name}`}
        checked={grid.selection.has(row)}
        onClick={(event) => {
          if (event.shiftKey) props.onExtend();
          else props.onToggle();
          focusGrid(event.currentTarget);
        }}
      />
    );
  }
  if (title !== menuTitle || grid.onMenu === undefined) return undefined;
  return (
    <Button
      kind="quiet"
      icon="more"
      label={`Actions of ${name}`}
      tabIndex={-1}
      onClick={({ currentTarget }) => {
        const button = currentTarget as Element;
        const { left, bottom } = button.getBoundingClientRect();
        focusGrid(button);
        grid.onMenu?.(row, { x: left, y: bottom });
      }}
    />
  );
}

/** The keys of the list work also after a click on a control in it. */
function focusGrid(control: Element): void {
  control.closest<HTMLElement>("[role=grid]")?.focus();
}
