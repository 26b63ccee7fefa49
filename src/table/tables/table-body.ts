import { fail, ok, type Result } from "../../protocol/result.ts";
import { readAtomEntity } from "../atom/read-atom.ts";
import { edm } from "../edm/edm.ts";
import { decodeText } from "../entity/body.ts";
import { malformedEntity } from "../entity/entity-input.ts";
import { parseFlatJson } from "../json/flat-json.ts";

const tableBodyBytesMax = 64 * 1024;

/** The body of Create Table: the name of the table. */
export const tableBody = {
  kind: "bytes",
  bytesMax: tableBodyBytesMax,
  parse: parseTable,
} as const;

function parseTable(bytes: Uint8Array, contentType: string): Result<string> {
  const text = decodeText(bytes);
  if (text === undefined) return malformedEntity();
  if (contentType.toLowerCase().includes("xml")) return parseAtomTable(text);
  const members = parseFlatJson(text);
  if (members === undefined) return malformedEntity();
  const name = members.find(([own]) => own === "TableName")?.[1];
  if (name === undefined || name === null) return fail("PropertiesNeedValue");
  return typeof name === "string" ? ok(name) : malformedEntity();
}

function parseAtomTable(text: string): Result<string> {
  const entity = readAtomEntity(text);
  if (!entity.ok) return entity;
  const found = entity.value.properties.find(([name]) => name === "TableName");
  if (found === undefined) return fail("PropertiesNeedValue");
  return found[1] === edm.string ? ok(found[2] as string) : malformedEntity();
}
