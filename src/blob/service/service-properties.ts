import {
  parseServiceProperties,
  servicePropertiesBytesMax,
} from "../../account/parse-service-properties.ts";
import { renderServiceProperties } from "../../account/service-properties-xml.ts";
import { noBody } from "../../core/operation.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { operation } from "../resources.ts";

const query = { restype: "service", comp: "properties" };

/** learn.microsoft.com/rest/api/storageservices/get-blob-service-properties */
export const getBlobServiceProperties = operation({
  name: "Get Blob Service Properties",
  ids: ["Service_GetProperties"],
  route: { method: "GET", resource: "service", query },
  since: "2009-09-19",
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
    body: xmlBody(renderServiceProperties("blob", target.properties.blob ?? {})),
  }),
});

/** Elements that the body leaves out stay as they are.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-service-properties */
export const setBlobServiceProperties = operation({
  name: "Set Blob Service Properties",
  ids: ["Service_SetProperties"],
  route: { method: "PUT", resource: "service", query },
  since: "2009-09-19",
  params: {},
  body: { kind: "xml", bytesMax: servicePropertiesBytesMax, parse: parseServiceProperties("blob") },
  permission: { letters: "w", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: [] },
  decide: ({ target, input }) => {
    const blob = { ...target.properties.blob, ...input.body };
    return { put: { ...target, properties: { ...target.properties, blob } } };
  },
});
