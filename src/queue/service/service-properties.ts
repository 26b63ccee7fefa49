import {
  parseServiceProperties,
  servicePropertiesBytesMax,
} from "../../account/parse-service-properties.ts";
import { renderServiceProperties } from "../../account/service-properties-xml.ts";
import { noBody } from "../../core/operation.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { operation } from "../resources.ts";

const query = { restype: "service", comp: "properties" };

/** learn.microsoft.com/rest/api/storageservices/get-queue-service-properties */
export const getQueueServiceProperties = operation({
  name: "Get Queue Service Properties",
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
  success: { status: 200, headers: ["Cache-Control"] },
  decide: ({ target }) => ({
    headers: { "Cache-Control": "no-cache" },
    body: xmlBody(renderServiceProperties("queue", target.properties.queue ?? {})),
  }),
});

/** Elements that the body leaves out stay as they are.
 *  learn.microsoft.com/rest/api/storageservices/set-queue-service-properties */
export const setQueueServiceProperties = operation({
  name: "Set Queue Service Properties",
  ids: ["Service_SetProperties"],
  route: { method: "PUT", resource: "service", query },
  since: "2009-09-19",
  params: {},
  body: {
    kind: "xml",
    bytesMax: servicePropertiesBytesMax,
    parse: parseServiceProperties("queue"),
  },
  permission: { letters: "w", resourceType: "s", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 202, headers: [] },
  decide: ({ target, input }) => {
    const queue = { ...target.properties.queue, ...input.body };
    return { put: { ...target, properties: { ...target.properties, queue } } };
  },
});
