import { moment } from "../format.ts";
import type { Column } from "../parts/grid.tsx";
import type { PagedList } from "../parts/paged-list.ts";
import type { SortKeys } from "../parts/sorting.ts";
import type { EdmType, Entity } from "../rest/entity.ts";

const columnsMax = 24;
const columnRem = 6;
/** Width of the timestamp column, of gaps, of edges, and of the check box and the menu. */
const gapRem = 0.75;
const edgesRem = 18.5;
const rowsLookedAtMax = 200;

export interface SeenProperty {
  readonly name: string;
  /** Undefined if the entities have different types for this property. */
  readonly type: EdmType | undefined;
}

/** The properties of the first 200 rows: entities may have different ones. */
export function seenProperties(list: PagedList<Entity>): readonly SeenProperty[] {
  const types = new Map<string, Set<EdmType>>();
  for (let index = 0; index < Math.min(list.count, rowsLookedAtMax); index += 1) {
    for (const [name, { type }] of Object.entries(list.rowAt(index)?.properties ?? {})) {
      types.set(name, (types.get(name) ?? new Set()).add(type));
    }
  }
  return [...types].map(([name, found]) => {
    const [type, other] = found;
    return { name, type: other === undefined ? type : undefined };
  });
}

/** The properties that get a column. */
export function shownProperties(
  seen: readonly SeenProperty[],
  chosen: readonly string[],
): readonly SeenProperty[] {
  return seen.filter(({ name }) => chosen.includes(name)).slice(0, columnsMax);
}

export function minWidthOf(shown: readonly SeenProperty[]): string {
  return `${(shown.length + 2) * (columnRem + gapRem) + edgesRem}rem`;
}

function propertyColumn({ name, type }: SeenProperty): Column<Entity> {
  return {
    title: name,
    note: type?.slice(4),
    width: `minmax(${columnRem}rem, 1fr)`,
    isMinor: true,
    cell: ({ properties }) => {
      const property = properties[name];
      if (property === undefined) return null;
      return (
        <span title={`${property.type} ${property.text}`} class="number">
          {property.text}
          {type === undefined && <span class="type"> {property.type.slice(4)}</span>}
        </span>
      );
    },
  };
}

export function columnsOf(shown: readonly SeenProperty[]): readonly Column<Entity>[] {
  return [
    {
      title: "PartitionKey",
      width: `minmax(${columnRem}rem, 1fr)`,
      cell: ({ partitionKey }) => <span title={partitionKey}>{partitionKey}</span>,
    },
    {
      title: "RowKey",
      width: `minmax(${columnRem}rem, 1fr)`,
      cell: ({ rowKey }) => <span title={rowKey}>{rowKey}</span>,
    },
    ...shown.map(propertyColumn),
    {
      title: "Timestamp",
      width: "10.5rem",
      isMinor: true,
      cell: ({ timestamp }) => <span class="soft">{moment(timestamp)}</span>,
    },
  ];
}

const numberTypes: ReadonlySet<EdmType> = new Set(["Edm.Int32", "Edm.Int64", "Edm.Double"]);

/** Values to sort by: numbers as numbers, everything else as text. */
export function sortKeysOf(seen: readonly SeenProperty[]): SortKeys<Entity> {
  const keys: Record<string, (entity: Entity) => string | number> = {
    PartitionKey: ({ partitionKey }) => partitionKey,
    RowKey: ({ rowKey }) => rowKey,
    Timestamp: ({ timestamp }) => timestamp,
  };
  for (const { name, type } of seen) {
    keys[name] = ({ properties }) => {
      const text = properties[name]?.text ?? "";
      return type !== undefined && numberTypes.has(type) ? Number(text) : text;
    };
  }
  return keys;
}
