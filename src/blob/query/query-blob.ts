import { invalidXmlNode, missingXmlNode } from "../../protocol/faults.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { invalidXmlAt, xmlChild, xmlChildText, type XmlElement } from "../../encoding/xml.ts";
import { parseArrowColumns, type ArrowColumn } from "./arrow-columns.ts";
import { parseQuery } from "./parse-query.ts";
import type { Query } from "./evaluate.ts";
import { blobRead } from "../blob-policy.ts";
import { lastAccessUpdate, queryProperties } from "../read/blob-properties.ts";
import { encryption } from "../../protocol/encryption.ts";
import { operation } from "../resources.ts";
import { runQuery } from "./run-query.ts";

/** Query Blob Contents: the declaration, and the parser of the request body with query and formats.
 *  `run-query.ts` runs the query while the response is sent. */

const queryBytesMax = 512 * 1024;
const separatorUnitsMax = 16;

export interface Delimited {
  readonly type: "delimited";
  readonly columnSeparator: string;
  readonly recordSeparator: string;
  /** The quotation mark; empty if fields are not quoted. */
  readonly quote: string;
  readonly escape: string;
  readonly headers: boolean;
}

interface JsonLines {
  readonly type: "json";
  readonly recordSeparator: string;
}

/** The input format Parquet. Results never have it: the service does not write Parquet. */
interface Parquet {
  readonly type: "parquet";
}

/** The output format Arrow, with the columns that the request declares. It is no input format. */
export interface Arrow {
  readonly type: "arrow";
  readonly columns: readonly ArrowColumn[];
}

export type Serialization = Delimited | JsonLines;

export interface QueryRequest {
  readonly query: Query;
  /** Length of the query text, which determines its cost for each record (`unitsPerCharacter`). */
  readonly expressionUnits: number;
  readonly input: Serialization | Parquet;
  readonly output: Serialization | Arrow;
}

const plainDelimited: Delimited = {
  type: "delimited",
  columnSeparator: ",",
  recordSeparator: "\n",
  quote: '"',
  escape: "",
  headers: false,
};

/** Parses the body of Query Blob Contents. The default output format is that of JSON input, or
 *  plain delimited text. */
export function parseQueryRequest(root: XmlElement | undefined): Result<QueryRequest> {
  if (root === undefined) return fail("InvalidXmlDocument");
  if (root.name !== "QueryRequest") return invalidXmlAt(root.start, "");
  const type = xmlChildText(root, "QueryType");
  if (type === undefined) return missingXmlNode("QueryType");
  if (type.toUpperCase() !== "SQL") return invalidXmlNode("QueryType", type);
  const expression = xmlChildText(root, "Expression");
  if (expression === undefined) return missingXmlNode("Expression");
  const query = parseQuery(expression);
  if (!query.ok) return query;
  const input = parseInput(xmlChild(root, "InputSerialization"));
  if (!input.ok) return input;
  const fallback = input.value.type === "json" ? input.value : plainDelimited;
  const output = parseOutput(xmlChild(root, "OutputSerialization"), fallback);
  if (!output.ok) return output;
  const formats = { input: input.value, output: output.value };
  return ok({ query: query.value, expressionUnits: expression.length, ...formats });
}

function parseInput(parent: XmlElement | undefined): Result<Serialization | Parquet> {
  const format = parent && xmlChild(parent, "Format");
  const type = format && xmlChildText(format, "Type")?.toLowerCase();
  return type === "parquet" ? ok({ type }) : parseSerialization(parent, plainDelimited);
}

function parseOutput(
  parent: XmlElement | undefined,
  fallback: Serialization,
): Result<Serialization | Arrow> {
  const format = parent && xmlChild(parent, "Format");
  if (format === undefined || xmlChildText(format, "Type")?.toLowerCase() !== "arrow") {
    return parseSerialization(parent, fallback);
  }
  const columns = parseArrowColumns(xmlChild(format, "ArrowConfiguration"));
  return columns.ok ? ok({ type: "arrow", columns: columns.value }) : columns;
}

function parseSerialization(
  parent: XmlElement | undefined,
  fallback: Serialization,
): Result<Serialization> {
  const format = parent && xmlChild(parent, "Format");
  if (parent === undefined) return ok(fallback);
  if (format === undefined) return missingXmlNode("Format");
  const type = xmlChildText(format, "Type") ?? "";
  switch (type.toLowerCase()) {
    case "delimited":
      return parseDelimited(xmlChild(format, "DelimitedTextConfiguration"));
    case "json":
      return parseJson(xmlChild(format, "JsonTextConfiguration"));
    default:
      return invalidXmlNode("Type", type, "The format is not supported.");
  }
}

function parseDelimited(configuration: XmlElement | undefined): Result<Delimited> {
  if (configuration === undefined) return ok(plainDelimited);
  const text = (name: string) => xmlChildText(configuration, name);
  const delimited: Delimited = {
    type: "delimited",
    columnSeparator: text("ColumnSeparator") || ",",
    recordSeparator: text("RecordSeparator") || "\n",
    quote: text("FieldQuote") ?? '"',
    escape: text("EscapeChar") ?? "",
    headers: text("HasHeaders")?.trim().toLowerCase() === "true",
  };
  for (const value of [delimited.columnSeparator, delimited.recordSeparator]) {
    if (value.length > separatorUnitsMax) return invalidXmlNode("Separator", value);
  }
  if (delimited.quote.length > 1) return invalidXmlNode("FieldQuote", delimited.quote);
  if (delimited.escape.length > 1) return invalidXmlNode("EscapeChar", delimited.escape);
  return ok(delimited);
}

function parseJson(configuration: XmlElement | undefined): Result<JsonLines> {
  const separator = configuration && xmlChildText(configuration, "RecordSeparator");
  const recordSeparator = separator === undefined || separator === "" ? "\n" : separator;
  if (recordSeparator.length > separatorUnitsMax) {
    return invalidXmlNode("RecordSeparator", recordSeparator);
  }
  return ok({ type: "json", recordSeparator });
}

/** Runs an SQL query on the records of a blob (CSV, JSON, Parquet) and returns the selected ones.
 *  learn.microsoft.com/rest/api/storageservices/query-blob-contents */
export const queryBlob = operation({
  ...blobRead,
  name: "Query Blob Contents",
  ids: ["Blob_Query"],
  route: { method: "POST", resource: "blob", query: { comp: "query" } },
  since: "2019-12-12",
  params: { encryption },
  body: { kind: "xml", bytesMax: queryBytesMax, parse: parseQueryRequest },
  policy: { ...blobRead.policy, content: "read", directories: "reject" },
  effect: "reads",
  // The query runs while the response is sent and takes its event-loop time from `loop`, as a read
  // does.
  reads: ({ loop }) => loop,
  decide: (context) => {
    const { target, input, newGuid, readResult: loop } = context;
    if (target.type !== "BlockBlob") return fail("InvalidBlobType");
    const { content, metadata } = target;
    const totalBytes = content.length;
    const marker = Buffer.from(newGuid().replaceAll("-", ""), "hex");
    return {
      ...lastAccessUpdate(context),
      metadata,
      headers: [...queryProperties(context), { "Content-Type": "avro/binary" }],
      body: {
        content,
        from: 0,
        length: totalBytes,
        transform: (chunks, read) =>
          runQuery({ chunks, read, totalBytes, marker, loop }, input.body),
      },
    };
  },
});
