import { atomEntities, atomEntity, atomTable, atomTables } from "./atom/write-atom.ts";
import {
  entitiesDocument,
  entityDocument,
  tableDocument,
  tablesDocument,
  type BytesBody,
  type TextBody,
} from "./json/documents.ts";
import type { Row, Writing } from "./json/write-entity.ts";
import type { Representation } from "./representation.ts";

export type Place = Omit<Writing, "level">;

export function renderEntity(row: Row, chosen: Representation, place: Place): TextBody | BytesBody {
  if (chosen.kind === "atom") return atomEntity(row, place);
  return entityDocument(row, { ...place, level: chosen.level });
}

export function renderEntities(
  rows: readonly Row[],
  chosen: Representation,
  place: Place,
): TextBody | BytesBody {
  if (chosen.kind === "atom") return atomEntities(rows, place);
  return entitiesDocument(rows, { ...place, level: chosen.level });
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
