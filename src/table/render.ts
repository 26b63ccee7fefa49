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

/** The bodies of responses with entities or tables, as Atom or JSON, whichever was negotiated
 *  (`options.format`). The operations of the Table service call these functions. */

export function renderEntity(row: Row, options: RenderOptions): TextBody | BytesBody {
  const isAtom = options.format === "atom";
  return isAtom ? atomEntity(row, options) : entityDocument(row, options);
}

export function renderEntities(rows: readonly Row[], options: RenderOptions): PiecesBody {
  const isAtom = options.format === "atom";
  return isAtom ? atomEntities(rows, options) : entitiesDocument(rows, options);
}

export function renderTable(name: string, options: RenderOptions): TextBody {
  const isAtom = options.format === "atom";
  return isAtom ? atomTable(name, options) : tableDocument(name, options);
}

export function renderTables(names: readonly string[], options: RenderOptions): PiecesBody {
  const isAtom = options.format === "atom";
  return isAtom ? atomTables(names, options) : tablesDocument(names, options);
}
