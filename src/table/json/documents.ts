import { PagedText } from "../../encoding/paged-text.ts";
import { copyBytes } from "../../encoding/slabs.ts";
import { TextBytes } from "../../encoding/text-bytes.ts";
import { jsonType, type MetadataLevel } from "../representation.ts";
import { writeEntity, type Row, type Writing } from "./write-entity.ts";

export interface TextBody {
  readonly type: string;
  readonly text: string;
}

export interface BytesBody {
  readonly type: string;
  readonly bytes: Uint8Array;
}

export interface PagedBody {
  readonly type: string;
  readonly paged: PagedText;
}

/** One for all: nothing awaits while an entity is written. */
let out = new TextBytes();
/** A larger one is not worth keeping. */
const keptBytesMax = 1024 * 1024;

export function entityDocument(row: Row, writing: Writing): BytesBody {
  const metadata = metadataMember(writing, `${writing.table}/@Element`);
  const bytes = copyBytes(written(row, writing, metadata).bytes());
  return { type: jsonType(writing.level), bytes };
}

export function entitiesDocument(rows: readonly Row[], writing: Writing): PagedBody {
  const metadata = metadataMember(writing, writing.table);
  const paged = new PagedText();
  paged.append(`{${metadata}${metadata === "" ? "" : ","}"value":[`);
  const form = writing.select === undefined ? lastingForms[writing.level] : undefined;
  for (let index = 0; index < rows.length; index += 1) {
    if (index > 0) paged.append(",");
    const row = rows[index]!;
    if (form === undefined || row.renderCached === undefined) {
      paged.appendBytes(written(row, writing).bytes());
    } else {
      const render = () => ({ text: written(row, writing).text(), isCacheable: true });
      paged.append(row.renderCached(form, render));
    }
  }
  paged.append("]}");
  return { type: jsonType(writing.level), paged };
}

/** The forms that say nothing but what the entity itself says: links would name this server. */
const lastingForms: Partial<Record<MetadataLevel, number>> = { nometadata: 1, minimalmetadata: 2 };

/** Good until the next one is written. */
function written(row: Row, writing: Writing, first = ""): TextBytes {
  if (out.bytes().length > keptBytesMax) out = new TextBytes();
  out.clear();
  writeEntity(out, row, writing, first);
  return out;
}

export function tableDocument(name: string, writing: Writing): TextBody {
  const metadata = metadataMember(writing, "Tables/@Element");
  const text = `{${join(metadata, tableMembers(name, writing))}}`;
  return { type: jsonType(writing.level), text };
}

export function tablesDocument(names: readonly string[], writing: Writing): TextBody {
  const items = names.map((name) => `{${tableMembers(name, writing)}}`).join(",");
  const metadata = metadataMember(writing, "Tables");
  return { type: jsonType(writing.level), text: `{${join(metadata, `"value":[${items}]`)}}` };
}

function tableMembers(name: string, { level, account, endpoint }: Writing): string {
  const own = `"TableName":${JSON.stringify(name)}`;
  if (level !== "fullmetadata") return own;
  const path = `Tables('${name}')`;
  return (
    `"odata.type":${JSON.stringify(`${account}.Tables`)},` +
    `"odata.id":${JSON.stringify(`${endpoint}/${path}`)},` +
    `"odata.editLink":${JSON.stringify(path)},${own}`
  );
}

function metadataMember({ level, endpoint, select }: Writing, what: string): string {
  if (level === "nometadata") return "";
  const selected = select === undefined ? "" : `&$select=${select.join(",")}`;
  return `"odata.metadata":${JSON.stringify(`${endpoint}/$metadata#${what}${selected}`)}`;
}

function join(one: string, other: string): string {
  return one === "" || other === "" ? one + other : `${one},${other}`;
}
