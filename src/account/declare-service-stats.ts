import { formatHttpDate } from "../base/dates.ts";
import { invalidQuery } from "../protocol/faults.ts";
import { noBody, type Operation } from "../operation/operation.ts";
import { xmlBody } from "../encoding/xml-body.ts";
import { element, textElement } from "../encoding/xml-writer.ts";
import { cacheHeadersOf, type ServiceDeclaration } from "./declare-service-properties.ts";
import { serviceOperation } from "./service-operation.ts";

/** Declares Get Service Stats of a service. Only the secondary endpoint has it, here with the
 *  current time as last synchronisation: both endpoints show the same data.
 *  learn.microsoft.com/rest/api/storageservices/get-blob-service-stats */
export function declareServiceStats(declaration: Omit<ServiceDeclaration, "since">): Operation {
  const { title, params = {} } = declaration;
  const cacheHeaders = cacheHeadersOf(declaration);
  return serviceOperation({
    name: `Get ${title} Service Stats`,
    ids: ["Service_GetStatistics"],
    route: { method: "GET", resource: "service", query: { restype: "service", comp: "stats" } },
    since: "2013-08-15",
    params,
    body: noBody,
    permission: { letters: "r", resourceType: "s", sas: "account-only" },
    target: "must-exist",
    conditions: "none",
    lease: "none",
    etag: "none",
    effect: "reads",
    success: { status: 200, headers: cacheHeaders.names },
    decide: ({ secondary, now }) => {
      if (!secondary) return invalidQuery("comp", "stats");
      const synced = textElement("LastSyncTime", formatHttpDate(now));
      const state = element("GeoReplication", textElement("Status", "live") + synced);
      return {
        ...cacheHeaders.reply,
        body: xmlBody(element("StorageServiceStats", state)),
      };
    },
  });
}
