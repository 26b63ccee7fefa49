import { jsonType } from "../representation.ts";
import { entityMembers, type Row, type Writing } from "./write-entity.ts";

export interface TextBody {
  readonly type: string;
  readonly text: string;
}

export function entityDocument(row: Row, writing: Writing): TextBody {
  const members = entityMembers(row, writing);
  const metadata = metadataMember(writing, `${writing.table}/@Element`);
  return { type: jsonType(writing.level), text: `{${join(metadata, members)}}` };
}

export function entitiesDocument(rows: readonly Row[], writing: Writing): TextBody {
  const items = rows.map((row) => `{${entityMembers(row, writing)}}`).join(",");
  const metadata = metadataMember(writing, writing.table);
  return { type: jsonType(writing.level), text: `{${join(metadata, `"value":[${items}]`)}}` };
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
