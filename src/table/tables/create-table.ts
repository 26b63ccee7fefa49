import { noETag } from "../../operation/operation.ts";
import { timeout } from "../../operation/common-params.ts";
import { checkTableName } from "../../protocol/names.ts";
import { odataHeaderNames, odataHeaders, prefer } from "../odata-headers.ts";
import { renderTable } from "../render.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { readAtomEntity } from "../atom/read-atom.ts";
import { edm } from "../edm/edm.ts";
import { decodeText } from "../entity/body.ts";
import { malformedEntity } from "../entity/entity-input.ts";
import { parseFlatJson } from "../json/flat-json.ts";

const tableBodyBytesMax = 64 * 1024;

/** The body of Create Table: the name of the table. */
const tableBody = {
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

/** learn.microsoft.com/rest/api/storageservices/create-table */
export const createTable = operation({
  name: "Create Table",
  ids: ["Table_Create"],
  route: { method: "POST", resource: "tables" },
  since: "2009-09-19",
  params: { representation, prefer, timeout },
  body: tableBody,
  permission: { letters: "cw", resourceType: "c", sas: "account-only" },
  target: "must-not-exist",
  ...noETag,
  effect: "writes",
  success: {
    status: 201,
    headers: [...odataHeaderNames, "Preference-Applied", "Location", "DataServiceId"],
  },
  completeAddress: (address, { body: table }) => {
    return checkTableName(table).ok ? { ...address, table } : address;
  },
  decide: ({ input, newId, account, endpoint }) => {
    const { body: name, prefer: preference } = input;
    const named = checkTableName(name);
    if (!named.ok) return named;
    const put = { id: newId(), name, policies: [] };
    const location = `${endpoint}/Tables('${name}')`;
    const headers = { ...odataHeaders, "Preference-Applied": preference, Location: location };
    if (preference === "return-no-content") {
      return { status: 204, put, headers: { ...headers, DataServiceId: location } };
    }
    const options = { table: name, account, endpoint, select: undefined };
    return { put, headers, body: renderTable(name, input.representation, options) };
  },
});
