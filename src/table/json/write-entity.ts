import { encodeBase64 } from "../../base/base64.ts";
import type { EntityKeys } from "../../protocol/principal.ts";
import type { TextBytes } from "../../encoding/text-bytes.ts";
import type { Rendered } from "../../operation/view.ts";
import type { Ticks } from "../../base/ticks.ts";
import { formatDateTime, edm, edmNames, type EdmType, type EdmValue } from "../edm/edm.ts";
import { formatEntityETag } from "../key-text.ts";
import { entityPath } from "../path.ts";
import type { Representation } from "../representation.ts";
import { reusedCursor, type EntityRecord, type PropertyCursor } from "../stored/entity-record.ts";

/** Writes one entity as JSON. It copies names and texts from the stored bytes instead of decoding
 *  them, which is cheaper: a page has up to 1,000 entities. */

/** An entity with its keys, as queries return it and the JSON and Atom writers take it. */
export interface Row extends EntityKeys {
  readonly record: EntityRecord;
  /** Returns the JSON of the row from the render cache, or renders and caches it. `cacheKey` is a
   *  number for the metadata level. Undefined for a row that was not read by a scan. */
  readonly renderCached?: (cacheKey: number, render: () => Rendered) => string;
}

/** What the form of a response depends on beside the entity or table. */
export interface RenderOptions {
  /** A level of metadata: the functions that write JSON are not called for Atom. */
  readonly format: Representation;
  /** The table in the spelling it was created with. */
  readonly table: string;
  readonly account: string;
  readonly endpoint: string;
  /** `$select`: the properties to write, in this order, as null if the entity lacks them; undefined
   *  for all. */
  readonly select: readonly string[] | undefined;
}

/** Writes an entity as a JSON object: the members in `first`, links, keys, Timestamp, properties. A
 *  type annotation precedes its property. The order is the service's (recorded from Azure). */
export function writeEntity(out: TextBytes, row: Row, options: RenderOptions, first = ""): void {
  const { select, format: level } = options;
  const links = linkMembers(row, options);
  const leading = first === "" || links === "" ? first + links : `${first},${links}`;
  if (select === undefined) {
    out.append(leading === "" ? "{" : `{${leading},`);
    out.appendAscii('"PartitionKey":');
    out.appendJson(row.partitionKey);
    out.appendAscii(',"RowKey":');
    out.appendJson(row.rowKey);
    out.appendAscii(level === "fullmetadata" ? `,${timestampType}` : ",");
    out.appendAscii('"Timestamp":"');
    out.appendAscii(formatDateTime(row.record.etag));
    out.appendByte(quoteMark);
    writeProperties(out, row.record, level);
  } else {
    const selected = select.map((name) => selectedMember(row, name, level)).join(",");
    out.append(`{${leading}${leading === "" || selected === "" ? "" : ","}${selected}`);
  }
  out.appendByte(closingBrace);
}

const closingBrace = 0x7d;
const quoteMark = 0x22;
const timestampType = '"Timestamp@odata.type":"Edm.DateTime",';

function linkMembers(row: Row, { format: level, table, account, endpoint }: RenderOptions): string {
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

function selectedMember(row: Row, name: string, level: Representation): string {
  if (name === "PartitionKey") return `"PartitionKey":${JSON.stringify(row.partitionKey)}`;
  if (name === "RowKey") return `"RowKey":${JSON.stringify(row.rowKey)}`;
  if (name === "Timestamp") return timestamp(row.record.etag, level);
  const property = row.record.find(name);
  const quotedName = JSON.stringify(name);
  if (property === undefined) return `${quotedName}:null`;
  const { type, value } = property;
  const text = `${quotedName}:${valueText(type, value)}`;
  if (level === "nometadata" || !needsType(type, value)) return text;
  return `${quotedName.slice(0, -1)}@odata.type":"${edmNames[type]}",${text}`;
}

function timestamp(etag: Ticks, level: Representation): string {
  const type = level === "fullmetadata" ? timestampType : "";
  return `${type}"Timestamp":"${formatDateTime(etag)}"`;
}

/** Writes all properties. Names are identifiers and need no escapes. */
function writeProperties(out: TextBytes, { bytes }: EntityRecord, level: Representation): void {
  const cursor = reusedCursor();
  cursor.start(bytes);
  while (cursor.next()) {
    const { type, nameFrom, nameTo } = cursor;
    const value = isStoredAsText(type) ? undefined : cursor.value;
    if (level !== "nometadata" && needsType(type, value)) {
      out.appendAscii(',"');
      out.appendBytes(bytes, nameFrom, nameTo);
      out.appendAscii(`@odata.type":"${edmNames[type]}"`);
    }
    out.appendAscii(',"');
    out.appendBytes(bytes, nameFrom, nameTo);
    out.appendAscii('":');
    if (value === undefined) writeText(out, cursor);
    else out.appendAscii(valueText(type, value));
  }
}

/** Whether values of this type are stored as text, whose bytes `writeText` copies if it can. */
function isStoredAsText(type: EdmType): boolean {
  return type === edm.string || type === edm.guid;
}

function writeText(out: TextBytes, cursor: PropertyCursor): void {
  if (!cursor.isPlainText) {
    out.append(JSON.stringify(cursor.value));
    return;
  }
  out.appendByte(quoteMark);
  out.appendBytes(cursor.bytes, cursor.valueFrom, cursor.valueTo);
  out.appendByte(quoteMark);
}

/** Whether a value needs the annotation `@odata.type` with its type. The syntax of JSON implies
 *  String, Boolean, Int32 and Double. */
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

/** The text of a Double in JSON and Atom. It always has a fraction or an exponent, so that clients
 *  do not read it as Int32: `3.0`, `1E+21`. */
export function doubleText(value: number): string {
  const text = String(value);
  if (text.includes("e")) return text.replace("e", "E");
  return Number.isInteger(value) ? `${text}.0` : text;
}
