import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { fittingColumns } from "./fitting-columns.ts";
import { GridHead } from "./grid-head.tsx";
import { pressInGrid } from "./grid-keys.ts";
import { GridRow, ownColumns } from "./grid-row.tsx";
import type { GridProps, Rows } from "./grid-types.ts";
import type { Point } from "./menu.tsx";
import { notify } from "./notices.tsx";
import { scrollTo, windowAt, type Viewport, type Window } from "./virtual-scroll.ts";

export type { Column, GridProps, Rows } from "./grid-types.ts";

const rowPixels = 36;

export function rowsOf<Row>(list: readonly Row[]): Rows<Row> {
  return { count: list.length, rowAt: (index) => list[index] };
}

/**
 * A table that renders only the visible rows. It is one tab stop, apart from its head; the focus
 * stays on the grid, and `aria-activedescendant` names the current row to screen readers.
 */
export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const { rows } = props;
  const id = useId();
  const body = useRef<HTMLDivElement>(null);
  const [scrollPixels, setScroll] = useState(0);
  const { widthPixels, heightPixels } = useSize(body);
  useInheritedFocus(body, props.inheritsFocus ?? false);
  const viewport: Viewport = { rowCount: rows.count, rowPixels, heightPixels };
  const window = windowAt(viewport, scrollPixels);
  const { first, last } = window;
  useEffect(() => rows.need?.(first, Math.max(last, 0)));
  const cursor = useCursor(props, body, viewport);
  useAnchor(props, body, scrollPixels);
  const [before, after] = ownColumns(props);
  const all = [...before, ...props.columns, ...after];
  // A list with a least width scrolls instead.
  const columns = props.minWidth === undefined ? fittingColumns(all, widthPixels) : all;
  const template = columns.map(({ width }) => width).join(" ");
  const shown = Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  const { at } = cursor;
  return (
    <div
      class="grid"
      role="grid"
      style={{ minWidth: props.minWidth }}
      aria-label={props.label}
      aria-rowcount={rows.count + 1}
      aria-colcount={columns.length}
      aria-multiselectable={props.selection !== undefined}
      aria-activedescendant={first <= at && at <= last ? `${id}-${at}` : undefined}
      tabIndex={0}
      onKeyDown={(event) => pressInGrid(event, { ...cursor, props })}
    >
      <GridHead columns={columns} template={template} sorting={props.sorting} />
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
              onPoint={() => cursor.point(index)}
              onToggle={() => cursor.toggle(index)}
              onExtend={() => cursor.extendTo(index)}
            />
          ))}
        </Space>
      </div>
    </div>
  );
}

/** The current row, and the anchor from which Shift extends the selection. */
function useCursor<Row>(
  { rows, selection }: GridProps<Row>,
  body: RefObject<HTMLDivElement | null>,
  viewport: Viewport,
) {
  const [cursor, setCursor] = useState(0);
  const anchor = useRef<number>(undefined);
  const isAtEnd = useRef(false);
  const at = Math.min(cursor, Math.max(0, rows.count - 1));
  const clamp = (to: number): number => Math.max(0, Math.min(rows.count - 1, to));
  const move = (to: number): void => {
    setCursor(clamp(to));
    const element = body.current;
    if (element === null) return;
    element.scrollTop = scrollTo(viewport, element.scrollTop, clamp(to));
  };
  // The end is followed while the rest of the list is loaded.
  useLayoutEffect(() => {
    if (isAtEnd.current) move(rows.count - 1);
  }, [rows.count]);
  return {
    at,
    toEnd: (): void => {
      isAtEnd.current = true;
      rows.needAll?.();
      move(rows.count - 1);
    },
    pageRows: Math.max(1, Math.floor(viewport.heightPixels / rowPixels) - 1),
    point: (index: number): void => {
      setCursor(index);
      anchor.current = index;
    },
    move: (to: number): void => {
      isAtEnd.current = false;
      move(to);
    },
    toggle: (index: number): void => {
      anchor.current = index;
      setCursor(index);
      const row = rows.rowAt(index);
      if (row !== undefined) selection?.toggle(row);
    },
    extendTo: (to: number): void => {
      anchor.current ??= at;
      setCursor(clamp(to));
      const [low, high] = [anchor.current, clamp(to)].toSorted((one, other) => one - other);
      selection?.add(rowsBetween(rows, low ?? 0, high ?? 0));
    },
    menuPoint: (): Point => {
      const box = body.current?.querySelector(".cursor")?.getBoundingClientRect();
      return { x: (box?.left ?? 0) + rowPixels, y: box?.bottom ?? 0 };
    },
  };
}

function rowsBetween<Row>(rows: Rows<Row>, low: number, high: number): readonly Row[] {
  const found: Row[] = [];
  for (let index = low; index <= high; index += 1) {
    const row = rows.rowAt(index);
    if (row !== undefined) found.push(row);
  }
  const missing = high - low + 1 - found.length;
  if (missing > 0) {
    notify("bad", `${missing} rows of the range are not loaded. Select all, and exclude the rest.`);
    return [];
  }
  return found;
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

interface Anchor {
  readonly source: unknown;
  readonly key: string | undefined;
  readonly index: number;
}

/** Keeps the first visible row where it is when a reloaded list has more or fewer rows above it. */
function useAnchor<Row>(
  { rows, keyOf }: GridProps<Row>,
  body: RefObject<HTMLDivElement | null>,
  scrollPixels: number,
): void {
  const before = useRef<Anchor>({ source: rows.source, key: undefined, index: 0 });
  useLayoutEffect(() => {
    const { source, key, index } = before.current;
    const element = body.current;
    if (source !== rows.source && key !== undefined && index > 0 && element !== null) {
      const found = indexOfKey(rows, keyOf, key);
      if (found !== undefined) element.scrollTop += (found - index) * rowPixels;
    }
    const first = Math.floor((element?.scrollTop ?? 0) / rowPixels);
    const row = rows.rowAt(first);
    before.current = { source: rows.source, key: row && keyOf(row), index: first };
  }, [rows.source, scrollPixels, rows.count]);
}

function indexOfKey<Row>(
  rows: Rows<Row>,
  keyOf: (row: Row) => string,
  key: string,
): number | undefined {
  for (let index = 0; index < rows.count; index += 1) {
    const row = rows.rowAt(index);
    if (row !== undefined && keyOf(row) === key) return index;
  }
  return undefined;
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
