import { noBody, type Operation } from "../operation/operation.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Params } from "../protocol/params.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { parseServiceProperties, servicePropertiesBytesMax } from "./parse-service-properties.ts";
import { renderServiceProperties } from "./service-properties-xml.ts";
import { serviceOperation } from "./service-operation.ts";

/** How the operations on the properties and statistics of one service differ from those of the
 *  others. */
export interface ServiceDeclaration {
  /** The service as it is written in the names of operations, for example `Blob`. */
  readonly title: string;
  /** The first x-ms-version that has these operations. */
  readonly since: string;
  readonly params?: Params;
  /** The queue service sends `Cache-Control: no-cache`; the other services do not. */
  readonly noCache?: true;
}

const query = { restype: "service", comp: "properties" };
const noHeaders = { names: [], reply: {} } as const;
const noCacheHeaders = {
  names: ["Cache-Control"],
  reply: { headers: { "Cache-Control": "no-cache" } },
} as const;

/** The caching headers of a service: their names for the declaration, their values for the
 *  reply. */
export function cacheHeadersOf({ noCache }: Pick<ServiceDeclaration, "noCache">) {
  return noCache === true ? noCacheHeaders : noHeaders;
}

/** Declares Get Service Properties of a service.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-service-properties */
export function declareGetServiceProperties(
  service: ServiceName,
  declaration: ServiceDeclaration,
): Operation {
  const { title, since, params = {} } = declaration;
  const cacheHeaders = cacheHeadersOf(declaration);
  return serviceOperation({
    name: `Get ${title} Service Properties`,
    ids: ["Service_GetProperties"],
    route: { method: "GET", resource: "service", query },
    since,
    params,
    body: noBody,
    permission: { letters: "r", resourceType: "s", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    success: { status: 200, headers: cacheHeaders.names },
    decide: ({ target }) => ({
      ...cacheHeaders.reply,
      body: xmlBody(renderServiceProperties(service, target.properties[service] ?? {})),
    }),
  });
}

/** Declares Set Service Properties of a service: elements that the body omits stay unchanged.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-service-properties */
export function declareSetServiceProperties(
  service: ServiceName,
  declaration: ServiceDeclaration,
): Operation {
  const { title, since, params = {} } = declaration;
  const parse = parseServiceProperties(service);
  return serviceOperation({
    name: `Set ${title} Service Properties`,
    ids: ["Service_SetProperties"],
    route: { method: "PUT", resource: "service", query },
    since,
    params,
    body: { kind: "xml", bytesMax: servicePropertiesBytesMax, parse },
    permission: { letters: "w", resourceType: "s", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "writes",
    success: { status: 202, headers: [] },
    decide: ({ target, input }) => {
      const changed = { ...target.properties[service], ...input.body };
      return { put: { ...target, properties: { ...target.properties, [service]: changed } } };
    },
  });
}
