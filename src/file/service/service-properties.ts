import {
  parseServiceProperties,
  servicePropertiesBytesMax,
} from "../../account/parse-service-properties.ts";
import { renderServiceProperties } from "../../account/service-properties-xml.ts";
import { noBody } from "../../core/operation.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { operation } from "../resources.ts";

const query = { restype: "service", comp: "properties" };

/** learn.microsoft.com/rest/api/storageservices/get-file-service-properties */
export const getFileServiceProperties = operation({
  name: "Get File Service Properties",
  ids: ["Service_GetProperties"],
  route: { method: "GET", resource: "service", query },
  since: "2015-02-21",
  params: {},
  body: noBody,
  permission: { letters: "r", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "reads",
  success: { status: 200, headers: [] },
  decide: ({ target }) => ({
    body: xmlBody(renderServiceProperties("file", target.properties.file ?? {})),
  }),
});

/** Elements that the body leaves out stay as they are.
 *  learn.microsoft.com/rest/api/storageservices/set-file-service-properties */
export const setFileServiceProperties = operation({
  name: "Set File Service Properties",
  ids: ["Service_SetProperties"],
  route: { method: "PUT", resource: "service", query },
  since: "2015-02-21",
  params: {},
  body: { kind: "xml", bytesMax: servicePropertiesBytesMax, parse: parseServiceProperties("file") },
  permission: { letters: "w", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: [] },
  decide: ({ target, input }) => {
    const file = { ...target.properties.file, ...input.body };
    return { put: { ...target, properties: { ...target.properties, file } } };
  },
});
