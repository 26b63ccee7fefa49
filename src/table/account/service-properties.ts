import {
  parseServiceProperties,
  servicePropertiesBytesMax,
} from "../../account/parse-service-properties.ts";
import { renderServiceProperties } from "../../account/service-properties-xml.ts";
import { timeout } from "../../core/common-params.ts";
import { noBody } from "../../core/operation.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { operation } from "../resources.ts";

const query = { restype: "service", comp: "properties" };

/** learn.microsoft.com/rest/api/storageservices/get-table-service-properties */
export const getTableServiceProperties = operation({
  name: "Get Table Service Properties",
  ids: ["Service_GetProperties"],
  route: { method: "GET", resource: "service", query },
  since: "2009-09-19",
  params: { timeout },
  body: noBody,
  permission: { letters: "r", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({
    body: xmlBody(renderServiceProperties("table", target.properties.table ?? {})),
  }),
});

/** Elements that the body leaves out stay as they are.
 *  learn.microsoft.com/rest/api/storageservices/set-table-service-properties */
export const setTableServiceProperties = operation({
  name: "Set Table Service Properties",
  ids: ["Service_SetProperties"],
  route: { method: "PUT", resource: "service", query },
  since: "2009-09-19",
  params: { timeout },
  body: {
    kind: "xml",
    bytesMax: servicePropertiesBytesMax,
    parse: parseServiceProperties("table"),
  },
  permission: { letters: "w", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: [] },
  decide: ({ target, input }) => {
    const table = { ...target.properties.table, ...input.body };
    return { put: { ...target, properties: { ...target.properties, table } } };
  },
});
