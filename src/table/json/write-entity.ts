import { encodeBase64 } from "../../core/base64.ts";
import type { EntityKeys } from "../../core/entity-range.ts";
import type { Ticks } from "../../core/ticks.ts";
import { formatDateTime } from "../edm/date-time.ts";
import { edm, edmNames, type EdmType, type EdmValue, type Property } from "../edm/edm.ts";
import { formatEntityETag } from "../etag.ts";
import { entityPath } from "../path.ts";
import type { MetadataLevel } from "../representation.ts";

/** An entity with its keys, as answers tell it. */
export interface Row extends EntityKeys {
  readonly etag: Ticks;
  readonly properties: readonly Property[];
}

export interface Writing {
  readonly level: MetadataLevel;
  /** The table in the spelling it was created with. */
  readonly table: string;
  readonly account: string;
  readonly endpoint: string;
  /** Only these, in this order; undefined for all. */
  readonly select: readonly string[] | undefined;
}

/** The members of one entity without the braces. Keys, Timestamp and then the rest, each type in
 *  front of its value, in the order that was recorded. */
export function entityMembers(row: Row, writing: Writing): string {
  const { select } = writing;
  let text = linkMembers(row, writing);
  if (select === undefined) {
    text += `"PartitionKey":${JSON.stringify(row.partitionKey)},"RowKey":${JSON.stringify(row.rowKey)}`;
    text += `,${timestamp(row.etag, writing.level)}`;
    for (const [name, type, value] of row.properties) {
      text += `,${member(name, type, value, writing.level)}`;
    }
    return text;
  }
  const selected = select.map((name) => selectedMember(row, name, writing.level));
  return selected.length === 0 ? text.slice(0, -1) : text + selected.join(",");
}

function linkMembers(row: Row, { level, table, account, endpoint }: Writing): string {
  if (level === "nometadata") return "";
  const etag = `"odata.etag":${JSON.stringify(formatEntityETag(row.etag))},`;
  if (level === "minimalmetadata") return etag;
  const path = entityPath(table, row);
  return (
    `"odata.type":${JSON.stringify(`${account}.${table}`)},` +
    `"odata.id":${JSON.stringify(`${endpoint}/${path}`)},${etag}` +
    `"odata.editLink":${JSON.stringify(path)},`
  );
}

function selectedMember(row: Row, name: string, level: MetadataLevel): string {
  if (name === "PartitionKey") return `"PartitionKey":${JSON.stringify(row.partitionKey)}`;
  if (name === "RowKey") return `"RowKey":${JSON.stringify(row.rowKey)}`;
  if (name === "Timestamp") return timestamp(row.etag, level);
  const found = row.properties.find(([own]) => own === name);
  if (found === undefined) return `${JSON.stringify(name)}:null`;
  return member(name, found[1], found[2], level);
}

function timestamp(etag: Ticks, level: MetadataLevel): string {
  const type = level === "fullmetadata" ? '"Timestamp@odata.type":"Edm.DateTime",' : "";
  return `${type}"Timestamp":"${formatDateTime(etag)}"`;
}

/** The names of a table's properties come back in every row. */
const cachedNamesMax = 4096;
const quotedNames = new Map<string, string>();

function quotedName(name: string): string {
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  if (quotedNames.size >= cachedNamesMax) quotedNames.clear();
  const quoted = JSON.stringify(name);
  quotedNames.set(name, quoted);
  return quoted;
}

function member(name: string, type: EdmType, value: EdmValue, level: MetadataLevel): string {
  const quoted = quotedName(name);
  const text = `${quoted}:${valueText(type, value)}`;
  if (level === "nometadata" || !needsType(type, value)) return text;
  return `${quoted.slice(0, -1)}@odata.type":"${edmNames[type]}",${text}`;
}

/** JSON itself tells strings, booleans, Int32 and finite doubles apart. */
function needsType(type: EdmType, value: EdmValue): boolean {
  switch (type) {
    case edm.string:
    case edm.boolean:
    case edm.int32:
      return false;
    case edm.double:
      return !Number.isFinite(value);
    default:
      return true;
  }
}

function valueText(type: EdmType, value: EdmValue): string {
  switch (type) {
    case edm.int64:
      return `"${value as bigint}"`;
    case edm.dateTime:
      return `"${formatDateTime(value as bigint)}"`;
    case edm.binary:
      return `"${encodeBase64(value as Uint8Array)}"`;
    case edm.double:
      return Number.isFinite(value)
        ? doubleText(value as number)
        : JSON.stringify(doubleText(value as number));
    default:
      return JSON.stringify(value);
  }
}

/** A double shows that it is one: `3.0`, `1E+21`. */
export function doubleText(value: number): string {
  const text = String(value);
  if (text.includes("e")) return text.replace("e", "E");
  return Number.isInteger(value) ? `${text}.0` : text;
}
