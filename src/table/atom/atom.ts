import { withSubject } from "../../protocol/faults.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { parseXml, xmlChild } from "../../encoding/xml.ts";
import {
  edm,
  edmTypeOf,
  edmNames,
  parseValue,
  formatDateTime,
  type TypedValue,
  type EdmType,
  type EdmValue,
  type Property,
} from "../edm/edm.ts";
import { EntityBuilder, malformedEntity, type EntityInput } from "../entity/entity-input.ts";
import { encodeBase64 } from "../../base/base64.ts";
import type { Ticks } from "../../base/ticks.ts";
import { elementOf, joined, rendered } from "../../encoding/xml-body.ts";
import { element, escapeText, xmlDeclaration } from "../../encoding/xml-writer.ts";
import { formatEntityETag } from "../key-text.ts";
import type { PiecesBody, TextBody } from "../json/documents.ts";
import { doubleText, type Row, type RenderOptions } from "../json/write-entity.ts";
import { entityPath } from "../path.ts";

/** Reads and writes entities and tables as Atom XML, the only format of versions before 2013-08-15.
 *  learn.microsoft.com/rest/api/storageservices/payload-format-for-table-service-operations */

/** Parses an Atom entry: `entry/content/properties`, with one element per property. */
export function readAtomEntity(text: string): Result<EntityInput> {
  const parsed = parseXml(text);
  if (!parsed.ok || parsed.value.name !== "entry") return malformedEntity();
  const content = xmlChild(parsed.value, "content");
  const properties = content && xmlChild(content, "properties");
  if (properties === undefined) return malformedEntity();
  const builder = new EntityBuilder();
  for (const { name, attributes, children, text: inner } of properties.children) {
    const isIgnored = name === "Timestamp";
    if (children.length > 0 && !isIgnored) return malformedEntity(`property ${name}`);
    const value = isIgnored ? undefined : parseAtomValue(attributes, inner);
    if (value === "malformed") return malformedEntity(`property ${name}`);
    const added = builder.add(name, value);
    if (!added.ok) return withSubject(added, `property ${name}`);
  }
  return ok(builder.entity);
}

/** The value of a property element, of the type in its attribute; undefined if it is null. */
function parseAtomValue(
  attributes: Readonly<Record<string, string>>,
  text: string,
): TypedValue | undefined | "malformed" {
  const attribute = (name: string) => attributes[name] ?? attributes[`m:${name}`];
  if (attribute("null") === "true") return undefined;
  const type = edmTypeOf(attribute("type") ?? "Edm.String");
  if (type === undefined) return "malformed";
  return parseValue(type, type === edm.string ? text : text.trim()) ?? "malformed";
}

const dataServicesNamespace = "http://schemas.microsoft.com/ado/2007/08/dataservices";
const namespaces = {
  "xmlns:d": dataServicesNamespace,
  "xmlns:m": `${dataServicesNamespace}/metadata`,
  xmlns: "http://www.w3.org/2005/Atom",
};

/** An Atom document of one entity, whose root element is the entry. */
export function atomEntity(row: Row, options: RenderOptions): TextBody {
  return document(entityEntry(row, options, namespaces));
}

export function atomEntities(rows: readonly Row[], options: RenderOptions): PiecesBody {
  const entries = rendered(rows, (row) => entityEntry(row, options, {}));
  return feed(options.table, options.endpoint, entries);
}

export function atomTable(name: string, options: RenderOptions): TextBody {
  return document(tableEntry(name, options, namespaces));
}

export function atomTables(names: readonly string[], options: RenderOptions): PiecesBody {
  const entries = rendered(names, (name) => tableEntry(name, options, {}));
  return feed("Tables", options.endpoint, entries);
}

const atomType = (type: "entry" | "feed"): string =>
  `application/atom+xml;type=${type};charset=utf-8`;

function document(inner: string): TextBody {
  return { type: atomType("entry"), text: xmlDeclaration + inner };
}

function feed(name: string, endpoint: string, entries: Iterable<string>): PiecesBody {
  const before =
    `<title type="text">${escapeText(name)}</title><id>${escapeText(`${endpoint}/${name}`)}</id>` +
    element("link", "", { rel: "self", title: name, href: name });
  const attributes = { "xml:base": `${endpoint}/`, ...namespaces };
  const inner = elementOf("feed", joined(before, entries), attributes);
  return { type: atomType("feed"), pieces: joined(xmlDeclaration, inner) };
}

function entityEntry(
  row: Row,
  options: RenderOptions,
  names: Readonly<Record<string, string>>,
): string {
  const { table, account, endpoint, select } = options;
  const all: readonly Property[] = [
    ["PartitionKey", edm.string, row.partitionKey],
    ["RowKey", edm.string, row.rowKey],
    ["Timestamp", edm.dateTime, row.record.etag],
    ...row.record.properties,
  ];
  const shown = select === undefined ? all : all.filter(([name]) => select.includes(name));
  return entry({
    path: entityPath(table, row),
    title: table,
    term: `${account}.${table}`,
    endpoint,
    attributes: { ...baseOf(endpoint, names), "m:etag": formatEntityETag(row.record.etag) },
    updated: row.record.etag,
    properties: shown.map(propertyElement).join(""),
  });
}

function tableEntry(
  name: string,
  options: RenderOptions,
  names: Readonly<Record<string, string>>,
): string {
  const { account, endpoint } = options;
  return entry({
    path: `Tables('${name}')`,
    title: "Tables",
    term: `${account}.Tables`,
    endpoint,
    attributes: baseOf(endpoint, names),
    updated: undefined,
    properties: propertyElement(["TableName", edm.string, name]),
  });
}

/** The attributes of an entry. Only the outermost element of a document declares `xml:base` and the
 *  namespaces, `names`; for an entry inside a feed `names` is empty. */
function baseOf(endpoint: string, names: Readonly<Record<string, string>>) {
  return "xmlns" in names ? { "xml:base": `${endpoint}/`, ...names } : names;
}

/** What an Atom entry says about an entity or a table; `properties` is XML. */
interface Entry {
  readonly path: string;
  readonly title: string;
  readonly term: string;
  readonly endpoint: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly updated: Ticks | undefined;
  readonly properties: string;
}

function entry({ path, title, term, endpoint, attributes, updated, properties }: Entry): string {
  const inner =
    `<id>${escapeText(`${endpoint}/${path}`)}</id>` +
    element("category", "", { term, scheme: `${dataServicesNamespace}/scheme` }) +
    element("link", "", { rel: "edit", title, href: path }) +
    "<title />" +
    (updated === undefined ? "" : `<updated>${formatDateTime(updated)}</updated>`) +
    "<author><name /></author>" +
    element("content", element("m:properties", properties), { type: "application/xml" });
  return element("entry", inner, attributes);
}

function propertyElement([name, type, value]: Property): string {
  const open = type === edm.string ? `d:${name}` : `d:${name} m:type="${edmNames[type]}"`;
  const text = valueText(type, value);
  // The attribute keeps leading and trailing white space, which an XML parser may drop otherwise.
  const spaced = type === edm.string && /^\s|\s$/.test(text) ? ' xml:space="preserve"' : "";
  return `<${open}${spaced}>${escapeText(text)}</d:${name}>`;
}

function valueText(type: EdmType, value: EdmValue): string {
  switch (type) {
    case edm.dateTime:
      return formatDateTime(value as bigint);
    case edm.binary:
      return encodeBase64(value as Uint8Array);
    case edm.double:
      return Number.isFinite(value) ? doubleText(value as number) : String(value);
    default:
      return String(value);
  }
}
