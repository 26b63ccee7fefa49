import { noBody, type Operation } from "../operation/operation.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Params } from "../protocol/params.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { parseServiceProperties, servicePropertiesBytesMax } from "./parse-service-properties.ts";
import { renderServiceProperties } from "./service-properties-xml.ts";
import { serviceOperation } from "./service-operation.ts";

export interface ServiceDeclaration {
  /** The service in the names of operations: `Blob`. */
  readonly title: string;
  /** The first x-ms-version that has it. */
  readonly since: string;
  readonly params?: Params;
  /** The queue service sends headers that forbid caching; the others do not. */
  readonly noCache?: true;
}

const query = { restype: "service", comp: "properties" };
const kept = { names: [], answered: {} } as const;
const notKept = {
  names: ["Cache-Control"],
  answered: { headers: { "Cache-Control": "no-cache" } },
} as const;

/** The caching headers of a service, as declared names and as values. */
export function cacheHeadersOf({ noCache }: Pick<ServiceDeclaration, "noCache">) {
  return noCache === true ? notKept : kept;
}

/** Get Service Properties of any service.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-service-properties */
export function declareGetServiceProperties(
  service: ServiceName,
  form: ServiceDeclaration,
): Operation {
  const { title, since, params = {} } = form;
  const cacheHeaders = cacheHeadersOf(form);
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
      ...cacheHeaders.answered,
      body: xmlBody(renderServiceProperties(service, target.properties[service] ?? {})),
    }),
  });
}

/** Set Service Properties of any service: elements that the body omits stay unchanged.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-service-properties */
export function declareSetServiceProperties(
  service: ServiceName,
  form: ServiceDeclaration,
): Operation {
  const { title, since, params = {} } = form;
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
