import { once } from "../../process/memo.ts";
import { copyBytes } from "../../process/bytes.ts";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { jsonType, type Representation } from "../representation.ts";
import { writeEntity, type Row, type RenderOptions } from "./write-entity.ts";

/** JSON bodies of responses with entities or tables, called by `table/render.ts`. Pages of entities
 *  are rendered while they are sent, and unchanged entities come from a cache. */

/** A response body: a text, bytes, or pieces that are rendered while they are sent. */
export interface TextBody {
  readonly type: string;
  readonly text: string;
}

export interface BytesBody {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface PiecesBody {
  readonly type: string;
  readonly pieces: Iterable<string | Uint8Array>;
}

/** The buffer for the JSON of one entity, reused for all: to allocate one per entity costs more. */
const entityText = once(() => new TextBytes());
/** The buffer for the entities of one piece, reused for all pieces. */
const pieceText = once(() => new TextBytes());
/** A piece of a page ends after the entity with which it reaches this size: fewer, larger pieces
 *  cost fewer steps of the generator and fewer copies. */
const pieceBytesMin = 1024;

export function entityDocument(row: Row, options: RenderOptions): BytesBody {
  const metadata = metadataMember(options, `${options.table}/@Element`);
  const bytes = copyBytes(writeToBuffer(row, options, metadata).bytes());
  return { type: jsonType(options.format), bytes };
}

export function entitiesDocument(rows: readonly Row[], options: RenderOptions): PiecesBody {
  return { type: jsonType(options.format), pieces: entityPieces(rows, options) };
}

/** The pieces of a page of entities. A piece is valid until the next one, which uses its buffer. */
function* entityPieces(
  rows: readonly Row[],
  options: RenderOptions,
): Generator<string | Uint8Array> {
  const metadata = metadataMember(options, options.table);
  yield `{${metadata}${metadata === "" ? "" : ","}"value":[`;
  for (let index = 0; index < rows.length;) {
    const piece = pieceText();
    piece.clear();
    for (; index < rows.length && piece.length < pieceBytesMin; index += 1) {
      if (index > 0) piece.appendByte(comma);
      writeRow(piece, rows[index]!, options);
    }
    yield piece.bytes();
  }
  yield "]}";
}

const comma = 0x2c;

/** Writes an entity of a page, from the cache if it was rendered for an earlier one. */
function writeRow(out: TextBytes, row: Row, options: RenderOptions): void {
  const cacheKey = options.select === undefined ? cacheKeys[options.format] : undefined;
  if (cacheKey === undefined || row.renderCached === undefined) {
    writeEntity(out, row, options);
    return;
  }
  const render = () => ({ text: writeToBuffer(row, options).text(), isCacheable: true });
  out.append(row.renderCached(cacheKey, render));
}

/** Numbers of metadata levels in the render cache (`operation/render-cache.ts`). Full metadata is
 *  not cached: its links contain the server's address, which depends on the request. */
const cacheKeys: Partial<Record<Representation, number>> = {
  nometadata: 1,
  minimalmetadata: 2,
};

/** Writes one entity to `entityText`: the result is valid until the next call. */
function writeToBuffer(row: Row, options: RenderOptions, first = ""): TextBytes {
  const text = entityText();
  text.clear();
  writeEntity(text, row, options, first);
  return text;
}

export function tableDocument(name: string, options: RenderOptions): TextBody {
  const metadata = metadataMember(options, "Tables/@Element");
  const text = `{${join(metadata, tableMembers(name, options))}}`;
  return { type: jsonType(options.format), text };
}

export function tablesDocument(names: readonly string[], options: RenderOptions): PiecesBody {
  return { type: jsonType(options.format), pieces: tablePieces(names, options) };
}

function* tablePieces(names: readonly string[], options: RenderOptions): Generator<string> {
  yield `{${join(metadataMember(options, "Tables"), '"value":[')}`;
  for (const [index, name] of names.entries()) {
    yield `${index === 0 ? "" : ","}{${tableMembers(name, options)}}`;
  }
  yield "]}";
}

function tableMembers(name: string, { format: level, account, endpoint }: RenderOptions): string {
  const nameMember = `"TableName":${JSON.stringify(name)}`;
  if (level !== "fullmetadata") return nameMember;
  const path = `Tables('${name}')`;
  return (
    `"odata.type":${JSON.stringify(`${account}.Tables`)},` +
    `"odata.id":${JSON.stringify(`${endpoint}/${path}`)},` +
    `"odata.editLink":${JSON.stringify(path)},${nameMember}`
  );
}

function metadataMember({ format: level, endpoint, select }: RenderOptions, what: string): string {
  if (level === "nometadata") return "";
  const selected = select === undefined ? "" : `&$select=${select.join(",")}`;
  return `"odata.metadata":${JSON.stringify(`${endpoint}/$metadata#${what}${selected}`)}`;
}

function join(one: string, other: string): string {
  return one === "" || other === "" ? one + other : `${one},${other}`;
}
