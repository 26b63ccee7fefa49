import { timeout } from "../../operation/common-params.ts";
import { checkTableName } from "../../protocol/names.ts";
import { odataHeaderNames, odataHeaders, prefer } from "../odata-headers.ts";
import { renderTable } from "../render.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { tableBody } from "./table-body.ts";

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
  conditions: "none",
  lease: "none",
  etag: "none",
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
