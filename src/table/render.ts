import { atomEntities, atomEntity, atomTable, atomTables } from "./atom/write-atom.ts";
import {
  entitiesDocument,
  entityDocument,
  tableDocument,
  tablesDocument,
  type BytesBody,
  type PagedBody,
  type TextBody,
} from "./json/documents.ts";
import type { Row, Writing } from "./json/write-entity.ts";
import type { MetadataLevel, Representation } from "./representation.ts";

export type Place = Omit<Writing, "level">;

export function renderEntity(row: Row, chosen: Representation, place: Place): TextBody | BytesBody {
  if (chosen.kind === "atom") return atomEntity(row, place);
  return entityDocument(row, writingOf(place, chosen.level));
}

export function renderEntities(
  rows: readonly Row[],
  chosen: Representation,
  place: Place,
): TextBody | PagedBody {
  if (chosen.kind === "atom") return atomEntities(rows, place);
  return entitiesDocument(rows, writingOf(place, chosen.level));
}

/** Spelled out: a point read does little else. */
function writingOf({ table, account, endpoint, select }: Place, level: MetadataLevel): Writing {
  return { level, table, account, endpoint, select };
}

export function renderTable(name: string, chosen: Representation, place: Place): TextBody {
  if (chosen.kind === "atom") return atomTable(name, place);
  return tableDocument(name, { ...place, level: chosen.level });
}

export function renderTables(
  names: readonly string[],
  chosen: Representation,
  place: Place,
): TextBody {
  if (chosen.kind === "atom") return atomTables(names, place);
  return tablesDocument(names, { ...place, level: chosen.level });
}
