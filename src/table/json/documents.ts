import { copyBytes } from "../../core/slabs.ts";
import { TextBytes } from "../../core/text-bytes.ts";
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

/** One for all: nothing awaits while a document is written. */
let out = new TextBytes();
/** A larger one is not worth keeping. */
const keptBytesMax = 1024 * 1024;

export function entityDocument(row: Row, writing: Writing): BytesBody {
  writeEntity(out, row, writing, metadataMember(writing, `${writing.table}/@Element`));
  return { type: jsonType(writing.level), bytes: taken() };
}

export function entitiesDocument(rows: readonly Row[], writing: Writing): BytesBody {
  const metadata = metadataMember(writing, writing.table);
  out.append(`{${metadata}${metadata === "" ? "" : ","}"value":[`);
  for (let index = 0; index < rows.length; index += 1) {
    if (index > 0) out.appendAscii(",");
    writeRow(rows[index]!, writing);
  }
  out.appendAscii("]}");
  return { type: jsonType(writing.level), bytes: taken() };
}

/** The forms that say nothing but what the entity itself says: links would name this server. */
const lastingForms: Partial<Record<MetadataLevel, number>> = { nometadata: 1, minimalmetadata: 2 };

function writeRow(row: Row, writing: Writing): void {
  const form = writing.select === undefined ? lastingForms[writing.level] : undefined;
  if (form === undefined || row.rendered === undefined) {
    writeEntity(out, row, writing);
    return;
  }
  out.append(row.rendered(form, () => ({ text: entityText(row, writing), lasts: true })));
}

const single = new TextBytes();

function entityText(row: Row, writing: Writing): string {
  single.clear();
  writeEntity(single, row, writing);
  return single.text();
}

function taken(): Uint8Array {
  const written = out.bytes();
  if (written.length > keptBytesMax) {
    out = new TextBytes();
    return written;
  }
  const bytes = copyBytes(written);
  out.clear();
  return bytes;
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
