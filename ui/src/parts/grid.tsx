import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { scrollTo, windowAt, type Viewport, type Window } from "./virtual-scroll.ts";

export interface Column<Row> {
  readonly title: string;
  /** Shown in smaller letters beside the title. */
  readonly note?: string | undefined;
  /** Whether the title is only for screen readers. */
  readonly isTitleHidden?: boolean;
  /** A track of a CSS grid: `2fr`, `8rem`. */
  readonly width: string;
  readonly align?: "end";
  /** Whether the column is hidden in narrow lists. */
  readonly isMinor?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface Rows<Row> {
  readonly count: number;
  readonly rowAt: (index: number) => Row | undefined;
  readonly need?: (first: number, last: number) => void;
}

export interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: Rows<Row>;
  readonly keyOf: (row: Row) => string;
  readonly active?: string | undefined;
  readonly selected?: ReadonlySet<string>;
  readonly onOpen?: (row: Row) => void;
  readonly onToggle?: (row: Row) => void;
  readonly onDelete?: (row: Row) => void;
  readonly rowClass?: (row: Row) => string;
  /** If the space is narrower than this, the list scrolls horizontally. */
  readonly minWidth?: string;
  /** Whether the list takes over the keyboard focus from the previous list. */
  readonly inheritsFocus?: boolean;
}

const rowPixels = 36;
const narrowPixels = 640;

export function rowsOf<Row>(list: readonly Row[]): Rows<Row> {
  return { count: list.length, rowAt: (index) => list[index] };
}

/**
 * A table that renders only the visible rows. It is one tab stop; the focus stays on the grid, and
 * `aria-activedescendant` names the current row to screen readers.
 */
export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { rows } = props;
  const id = useId();
  const body = useRef<HTMLDivElement>(null);
  const [scrollPixels, setScroll] = useState(0);
  const { widthPixels, heightPixels } = useSize(body);
  useInheritedFocus(body, props.inheritsFocus ?? false);
  const [cursor, setCursor] = useState(0);
  const viewport: Viewport = { rowCount: rows.count, rowPixels, heightPixels };
  const window = windowAt(viewport, scrollPixels);
  const { first, last } = window;
  useEffect(() => rows.need?.(first, Math.max(last, 0)));
  const at = Math.min(cursor, Math.max(0, rows.count - 1));
  const move = (to: number): void => {
    const row = Math.max(0, Math.min(rows.count - 1, to));
    setCursor(row);
    const element = body.current;
    if (element !== null) element.scrollTop = scrollTo(viewport, element.scrollTop, row);
  };
  const isNarrow = widthPixels < narrowPixels;
  const columns = isNarrow ? props.columns.filter((one) => one.isMinor !== true) : props.columns;
  const template = columns.map(({ width }) => width).join(" ");
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  return (
    <div
      class="grid"
      role="grid"
      style={{ minWidth: props.minWidth }}
      aria-label={props.label}
      aria-rowcount={rows.count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={first <= at && at <= last ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={(event) => walkGrid(event, { at, page: visibleRows(heightPixels), move, props })}
    >
      <GridHead columns={columns} template={template} />
      <div
        class="grid-body"
        ref={body}
        role="rowgroup"
        onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      >
        <Space window={window}>
          {shown.map((index) => (
            <GridRow
              key={index}
              id={`${id}-${index}`}
              index={index}
              isCursor={index === at}
              template={template}
              grid={props}
              columns={columns}
              onPoint={() => setCursor(index)}
            />
          ))}
        </Space>
      </div>
    </div>
  );
}

interface SpaceProps {
  readonly window: Window;
  readonly children: ComponentChildren;
}

/** An element as high as all rows together, with the rendered rows at the scroll position. */
function Space({ window, children }: SpaceProps): JSX.Element {
  const { spacePixels, offsetPixels } = window;
  return (
    <div class="grid-space" style={{ height: `${spacePixels}px` }} role="presentation">
      <div
        class="grid-window"
        style={{ transform: `translateY(${offsetPixels}px)` }}
        role="presentation"
      >
        {children}
      </div>
    </div>
  );
}

let wasFocusLost = false;

function useInheritedFocus(body: RefObject<HTMLElement | null>, inherits: boolean): void {
  useLayoutEffect(() => {
    const grid = body.current?.parentElement;
    if (grid === null || grid === undefined || !inherits) return;
    if (wasFocusLost && document.activeElement === document.body) grid.focus();
    wasFocusLost = false;
    return () => {
      wasFocusLost = grid.contains(document.activeElement);
    };
  }, []);
}

function useSize(body: RefObject<HTMLElement | null>) {
  const [size, setSize] = useState({ widthPixels: 1000, heightPixels: 600 });
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => {
      setSize({ widthPixels: element.clientWidth, heightPixels: element.clientHeight });
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return size;
}

function visibleRows(heightPixels: number): number {
  return Math.max(1, Math.floor(heightPixels / rowPixels) - 1);
}

function GridHead<Row>({
  columns,
  template,
}: {
  readonly columns: readonly Column<Row>[];
  readonly template: string;
}): JSX.Element {
  return (
    <div class="grid-head" role="rowgroup">
      <div class="grid-row" role="row" aria-rowindex={1} style={{ "--columns": template }}>
        {columns.map(({ title, align, isTitleHidden, note }) => (
          <div key={title} role="columnheader" class={cellClass(align)}>
            {isTitleHidden === true ? <span class="unseen">{title}</span> : title}
            {note !== undefined && <span class="type"> {note}</span>}
          </div>
        ))}
      </div>
    </div>
  );
}

function cellClass(align: "end" | undefined): string {
  return align === "end" ? "cell end" : "cell";
}

interface GridRowProps<Row> {
  readonly id: string;
  readonly index: number;
  readonly isCursor: boolean;
  readonly template: string;
  readonly grid: GridProps<Row>;
  readonly columns: readonly Column<Row>[];
  readonly onPoint: () => void;
}

function GridRow<Row>(props: GridRowProps<Row>): JSX.Element {
  const { id, index, isCursor, template, grid } = props;
  const row = grid.rows.rowAt(index);
  const key = row === undefined ? undefined : grid.keyOf(row);
  const isSelected = key !== undefined && grid.selected?.has(key) === true;
  const isActive = key !== undefined && key === grid.active;
  const own = row === undefined ? "pending" : (grid.rowClass?.(row) ?? "");
  const click = (event: MouseEvent): void => {
    props.onPoint();
    if (row === undefined || isControl(event)) return;
    if (event.ctrlKey || event.metaKey) grid.onToggle?.(row);
    else grid.onOpen?.(row);
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
    >
      {props.columns.map(({ title, cell, align }) => (
        <div key={title} role="gridcell" class={cellClass(align)}>
          {row === undefined ? "…" : cell(row)}
        </div>
      ))}
    </div>
  );
}

/** Elements that handle clicks and keys themselves. */
const controls = "button, a, input, select, textarea, dialog";

function isControl(event: Event): boolean {
  return event.target instanceof Element && event.target.closest(controls) !== null;
}

interface Walk<Row> {
  readonly at: number;
  readonly page: number;
  readonly move: (to: number) => void;
  readonly props: GridProps<Row>;
}

function walkGrid<Row>(event: KeyboardEvent, { at, page, move, props }: Walk<Row>): void {
  if (event.target !== event.currentTarget && isControl(event)) return;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: props.rows.count - 1,
  };
  const target = targets[event.key];
  const row = props.rows.rowAt(at);
  if (target !== undefined) move(target);
  else if (row === undefined) return;
  else if (event.key === "Enter") props.onOpen?.(row);
  else if (event.key === " ") props.onToggle?.(row);
  else if (event.key === "Delete") props.onDelete?.(row);
  else return;
  event.preventDefault();
}
