import { atomEntities, atomEntity, atomTable, atomTables } from "./atom/atom.ts";
import {
  entitiesDocument,
  entityDocument,
  tableDocument,
  tablesDocument,
  type BytesBody,
  type PiecesBody,
  type TextBody,
} from "./json/documents.ts";
import type { Row, RenderOptions } from "./json/write-entity.ts";
import type { MetadataLevel, Representation } from "./representation.ts";

/** Options without the metadata level, which only JSON has. */
type BodyOptions = Omit<RenderOptions, "level">;

export function renderEntity(
  row: Row,
  chosen: Representation,
  options: BodyOptions,
): TextBody | BytesBody {
  if (chosen.kind === "atom") return atomEntity(row, options);
  return entityDocument(row, withLevel(options, chosen.level));
}

export function renderEntities(
  rows: readonly Row[],
  chosen: Representation,
  options: BodyOptions,
): PiecesBody {
  if (chosen.kind === "atom") return atomEntities(rows, options);
  return entitiesDocument(rows, withLevel(options, chosen.level));
}

/** Without a spread: it costs a measurable part of reading one entity. */
function withLevel(
  { table, account, endpoint, select }: BodyOptions,
  level: MetadataLevel,
): RenderOptions {
  return { level, table, account, endpoint, select };
}

export function renderTable(name: string, chosen: Representation, options: BodyOptions): TextBody {
  if (chosen.kind === "atom") return atomTable(name, options);
  return tableDocument(name, { ...options, level: chosen.level });
}

export function renderTables(
  names: readonly string[],
  chosen: Representation,
  options: BodyOptions,
): PiecesBody {
  if (chosen.kind === "atom") return atomTables(names, options);
  return tablesDocument(names, { ...options, level: chosen.level });
}
