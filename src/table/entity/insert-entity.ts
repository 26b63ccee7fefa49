import { timeout } from "../../operation/common-params.ts";
import { fail } from "../../protocol/result.ts";
import { checkEntity } from "../edm/limits.ts";
import { odataHeaderNames, odataHeaders, prefer, unconditional } from "../odata-headers.ts";
import { entityPath } from "../path.ts";
import { renderEntity } from "../render.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { entityRecord } from "../stored/entity-record.ts";
import { entityBody } from "./body.ts";

/** learn.microsoft.com/rest/api/storageservices/insert-entity */
export const insertEntity = operation({
  name: "Insert Entity",
  ids: ["Table_InsertEntity"],
  route: { method: "POST", resource: "entities" },
  since: "2009-09-19",
  params: { representation, prefer, unconditional, timeout },
  body: entityBody,
  permission: { letters: "a", resourceType: "o" },
  target: "must-not-exist",
  conditions: "none",
  lease: "none",
  etag: "renew",
  effect: "writes",
  success: {
    status: 201,
    headers: [...odataHeaderNames, "Preference-Applied", "Location", "DataServiceId"],
  },
  completeAddress: (address, { body: { partitionKey, rowKey } }) => {
    if (partitionKey === undefined || rowKey === undefined) return address;
    const { resource, table, isBelowTable } = address;
    const located = { resource, table, keys: { partitionKey, rowKey } };
    return isBelowTable === undefined ? located : { ...located, isBelowTable };
  },
  decide: ({ address, scope, input, newETag, account, endpoint }) => {
    const { keys } = address;
    if (keys === undefined) return fail("PropertiesNeedValue");
    const { properties, hasTypedKey } = input.body;
    if (hasTypedKey) return fail("InvalidInput");
    const fits = checkEntity(keys, properties);
    if (!fits.ok) return fits;
    const record = entityRecord(newETag, properties);
    const { name: table } = scope.table;
    const location = `${endpoint}/${entityPath(table, keys)}`;
    const isWithoutBody = input.prefer === "return-no-content";
    const ownHeaders = {
      "Preference-Applied": input.prefer,
      Location: location,
      DataServiceId: isWithoutBody ? location : undefined,
    };
    const headers = [odataHeaders, ownHeaders];
    if (isWithoutBody) return { status: 204, put: record, headers };
    const options = { table, account, endpoint, select: undefined };
    const body = renderEntity({ ...keys, record }, input.representation, options);
    return { put: record, headers, body };
  },
});
