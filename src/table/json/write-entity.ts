import { encodeBase64 } from "../../base/base64.ts";
import type { EntityKeys } from "../../protocol/entity-range.ts";
import type { TextBytes } from "../../encoding/text-bytes.ts";
import type { Rendered } from "../../operation/view.ts";
import type { Ticks } from "../../base/ticks.ts";
import { formatDateTime } from "../edm/date-time.ts";
import { edm, edmNames, type EdmType, type EdmValue } from "../edm/edm.ts";
import { formatEntityETag } from "../etag.ts";
import { entityPath } from "../path.ts";
import type { MetadataLevel } from "../representation.ts";
import type { EntityRecord } from "../stored/entity-record.ts";
import { PropertyCursor } from "../stored/property-cursor.ts";

/** An entity with its keys, as answers tell it. */
export interface Row extends EntityKeys {
  readonly record: EntityRecord;
  /** What the row was told as before, if it is known, or else what `render` makes of it. */
  readonly renderCached?: (form: number, render: () => Rendered) => string;
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

/** One entity in braces, after the members in `first`. Keys, Timestamp and then the rest, each type
 *  in front of its value, in the order that was recorded. */
export function writeEntity(out: TextBytes, row: Row, writing: Writing, first = ""): void {
  const { select, level } = writing;
  const links = linkMembers(row, writing);
  const lead = first === "" || links === "" ? first + links : `${first},${links}`;
  if (select === undefined) {
    out.append(lead === "" ? "{" : `{${lead},`);
    out.appendAscii('"PartitionKey":');
    out.append(quoted(row.partitionKey));
    out.appendAscii(',"RowKey":');
    out.append(JSON.stringify(row.rowKey));
    out.appendAscii(level === "fullmetadata" ? `,${timestampType}` : ",");
    out.appendAscii('"Timestamp":"');
    out.appendAscii(formatDateTime(row.record.etag));
    out.appendByte(quoteMark);
    writeProperties(out, row.record, level);
  } else {
    const chosen = select.map((name) => selectedMember(row, name, level)).join(",");
    out.append(`{${lead}${lead === "" || chosen === "" ? "" : ","}${chosen}`);
  }
  out.appendByte(closingBrace);
}

const closingBrace = 0x7d;
const quoteMark = 0x22;
const timestampType = '"Timestamp@odata.type":"Edm.DateTime",';

function linkMembers(row: Row, { level, table, account, endpoint }: Writing): string {
  if (level === "nometadata") return "";
  const etag = `"odata.etag":${JSON.stringify(formatEntityETag(row.record.etag))}`;
  if (level === "minimalmetadata") return etag;
  const path = entityPath(table, row);
  return (
    `"odata.type":${JSON.stringify(`${account}.${table}`)},` +
    `"odata.id":${JSON.stringify(`${endpoint}/${path}`)},${etag},` +
    `"odata.editLink":${JSON.stringify(path)}`
  );
}

function selectedMember(row: Row, name: string, level: MetadataLevel): string {
  if (name === "PartitionKey") return `"PartitionKey":${JSON.stringify(row.partitionKey)}`;
  if (name === "RowKey") return `"RowKey":${JSON.stringify(row.rowKey)}`;
  if (name === "Timestamp") return timestamp(row.record.etag, level);
  const found = row.record.find(name);
  const quotedName = JSON.stringify(name);
  if (found === undefined) return `${quotedName}:null`;
  const { type, value } = found;
  const text = `${quotedName}:${valueText(type, value)}`;
  if (level === "nometadata" || !needsType(type, value)) return text;
  return `${quotedName.slice(0, -1)}@odata.type":"${edmNames[type]}",${text}`;
}

function timestamp(etag: Ticks, level: MetadataLevel): string {
  const type = level === "fullmetadata" ? timestampType : "";
  return `${type}"Timestamp":"${formatDateTime(etag)}"`;
}

/** Rows of one partition follow each other. */
let lastKey = "";
let lastQuoted = '""';

function quoted(key: string): string {
  if (key === lastKey) return lastQuoted;
  lastKey = key;
  lastQuoted = JSON.stringify(key);
  return lastQuoted;
}

const cursor = new PropertyCursor();

/** From the stored form to the answer. Names are identifiers: they never need escaping. */
function writeProperties(out: TextBytes, { bytes }: EntityRecord, level: MetadataLevel): void {
  cursor.start(bytes);
  while (cursor.next()) {
    const { type, nameFrom, nameTo } = cursor;
    const value = isCopied(type) ? undefined : cursor.value;
    if (level !== "nometadata" && needsType(type, value)) {
      out.appendAscii(',"');
      out.appendBytes(bytes, nameFrom, nameTo);
      out.appendAscii(`@odata.type":"${edmNames[type]}"`);
    }
    out.appendAscii(',"');
    out.appendBytes(bytes, nameFrom, nameTo);
    out.appendAscii('":');
    if (value === undefined) writeText(out);
    else out.appendAscii(valueText(type, value));
  }
}

/** Whether the stored text may be the answer's. */
function isCopied(type: EdmType): boolean {
  return type === edm.string || type === edm.guid;
}

function writeText(out: TextBytes): void {
  if (!cursor.isPlainText) {
    out.append(JSON.stringify(cursor.value));
    return;
  }
  out.appendByte(quoteMark);
  out.appendBytes(cursor.bytes, cursor.valueFrom, cursor.valueTo);
  out.appendByte(quoteMark);
}

/** JSON itself tells strings, booleans, Int32 and finite doubles apart. */
function needsType(type: EdmType, value: EdmValue | undefined): boolean {
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
    case edm.double: {
      const text = doubleText(value as number);
      return Number.isFinite(value) ? text : `"${text}"`;
    }
    case edm.int32:
    case edm.boolean:
      return String(value);
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
